package io.varve.server.config;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.varve.server.config.Setting.Kind;
import io.varve.server.config.Setting.Trait;

/**
 * The settings of Redis 7 and Valkey 9 that have no effect here: they are accepted, checked and shown. Immutable:
 * static methods only.
 *
 * <p>A line consists of a name, optionally an alias; the kind; the default; the values that the kind allows; {@code
 * fixed} if CONFIG SET cannot change it; {@code hidden} if a pattern of CONFIG GET does not match it.
 */
final class SettingsWithoutEffect {
    private static final String LINES = """
            daemonize bool no fixed
            import-mode bool no

            activedefrag bool no
            activerehashing bool yes
            always-show-logo bool no fixed
            aof-disable-auto-gc bool no hidden
            aof-rewrite-incremental-fsync bool yes
            aof-use-rdb-preamble bool yes
            cluster-allow-replica-migration bool yes
            cluster-replica-no-failover|cluster-slave-no-failover bool no
            cluster-slot-stats-enabled bool no
            crash-log-enabled bool no
            crash-memcheck-enabled bool no
            disable-thp bool no fixed
            dual-channel-replication-enabled bool no
            dynamic-hz bool yes
            enable-debug-assert bool no fixed hidden
            extended-redis-compatibility bool no
            hide-user-data-from-log bool yes
            io-threads-always-active bool no hidden
            io-threads-do-reads bool no fixed
            jemalloc-bg-thread bool yes
            lazyfree-lazy-eviction bool no
            lazyfree-lazy-expire bool no
            lazyfree-lazy-server-del bool no
            lazyfree-lazy-user-del bool no
            lazyfree-lazy-user-flush bool no
            lua-enable-deprecated-api bool no fixed
            lua-enable-insecure-api bool no hidden
            lua-replicate-commands bool yes hidden
            mptcp bool no fixed
            no-appendfsync-on-rewrite bool no
            rdb-del-sync-files bool no
            rdb-save-incremental-fsync bool yes
            repl-disable-tcp-nodelay bool no
            repl-diskless-sync bool yes
            repl-mptcp bool no fixed
            replica-ignore-disk-write-errors bool no
            replica-ignore-maxmemory|slave-ignore-maxmemory bool yes
            replica-lazy-flush|slave-lazy-flush bool no
            set-proc-title bool no fixed
            syslog-enabled bool no fixed
            tls-cluster bool no
            use-exit-on-panic bool no hidden

            cluster-config-save-behavior choice sync sync,best-effort
            cluster-preferred-endpoint-type choice ip ip,hostname,unknown-endpoint
            enable-module-command choice no no,yes,local fixed
            log-format choice legacy legacy,logfmt,json
            log-timestamp-format choice legacy legacy,iso8601,milliseconds
            oom-score-adj choice no no,yes,relative,absolute
            propagation-error-behavior choice ignore ignore,panic,panic-on-replicas
            rdb-version-check choice strict strict,relaxed
            repl-diskless-load choice disabled disabled,on-empty-db,swapdb,flush-before-load
            sanitize-dump-payload choice no no,yes,clients
            syslog-facility choice local0 user,local0,local1,local2,local3,local4,local5,local6,local7 fixed

            aof-rewrite-cpulist|aof_rewrite_cpulist text "" fixed
            availability-zone text ""
            bgsave-cpulist|bgsave_cpulist text "" fixed
            bind-source-addr text ""
            bio-cpulist|bio_cpulist text "" fixed
            cluster-announce-client-ipv4 text ""
            cluster-announce-client-ipv6 text ""
            cluster-announce-hostname text ""
            cluster-announce-human-nodename text ""
            debug-context text "" hidden
            hash-seed text "" fixed hidden
            ignore-warnings text ""
            locale-collate text ""
            oom-score-adj-values text "0 200 800"
            proc-title-template text "{title} {listen-addr} {server-mode}"
            rdma-bind text ""
            req-res-logfile text "" fixed hidden
            server-cpulist|server_cpulist text "" fixed
            shutdown-on-sigint text default
            shutdown-on-sigterm text default
            syslog-ident text redis fixed
            tls-auth-clients-user text ""
            tls-client-cert-file text ""
            tls-client-key-file text ""
            tls-client-key-file-pass text ""
            tls-dh-params-file text ""

            active-defrag-cycle-max number 25 1 99
            active-defrag-cycle-min number 1 1 99
            active-defrag-cycle-us number 500 0 100000
            active-defrag-ignore-bytes memory 104857600 1 max
            active-defrag-max-scan-fields number 1000 1 max
            active-defrag-threshold-lower number 10 0 1000
            active-defrag-threshold-upper number 100 0 1000
            active-expire-effort number 1 1 10
            client-default-resp number 2 2 3 fixed hidden
            cluster-announce-bus-port number 0 0 65535
            cluster-announce-client-port number 0 0 65535
            cluster-announce-client-tls-port number 0 0 65535
            cluster-announce-tls-port number 0 0 65535
            cluster-blacklist-ttl number 60 0 max
            cluster-databases number 1 1 2147483647 fixed
            cluster-link-sendbuf-limit memory 0 0 max
            cluster-message-gossip-perc number 10 1 100
            cluster-migration-barrier number 1 0 2147483647
            cluster-node-timeout number 15000 0 max
            cluster-ping-interval number 0 0 max hidden
            cluster-port number 0 0 65535 fixed
            cluster-replica-validity-factor|cluster-slave-validity-factor number 10 0 2147483647
            cluster-slot-migration-log-max-len number 1000 0 max
            commandlog-large-reply-max-len number 128 0 max
            commandlog-large-request-max-len number 128 0 max
            commandlog-reply-larger-than number 1048576 -1 max
            commandlog-request-larger-than number 1048576 -1 max
            events-per-io-thread number 2 0 2147483647 hidden
            key-load-delay number 0 -2147483648 2147483647 hidden
            lfu-decay-time number 1 0 2147483647
            lfu-log-factor number 10 0 2147483647
            list-compress-depth number 0 0 2147483647
            list-max-listpack-size|list-max-ziplist-size number -2 -2147483648 2147483647
            list-max-ziplist-entries number 512 0 max hidden
            list-max-ziplist-value memory 64 0 max hidden
            loading-process-events-interval-bytes memory 2097152 1024 2147483647 hidden
            max-new-connections-per-cycle number 10 1 1000
            max-new-tls-connections-per-cycle number 1 1 1000
            maxmemory-clients share 0
            maxmemory-eviction-tenacity number 10 0 100
            min-io-threads-avoid-copy-reply number 7 0 2147483647 hidden
            min-string-size-avoid-copy-reply number 16384 0 2147483647 hidden
            min-string-size-avoid-copy-reply-threaded number 65536 0 2147483647 hidden
            prefetch-batch-max-size number 16 0 128
            rdb-key-save-delay number 0 -2147483648 2147483647 hidden
            rdma-completion-vector number -1 -1 1024
            rdma-port number 0 0 65535
            rdma-rx-size memory 1048576 65536 16777216
            repl-diskless-sync-delay number 5 0 2147483647
            repl-diskless-sync-max-replicas number 0 0 2147483647
            slot-migration-max-failover-repl-bytes memory 0 -1 max
            slowlog-max-arg-len number 128 0 max
            socket-mark-id number 0 0 4294967295 fixed
            tcp-keepalive-probes number 3 0 2147483647
            tls-auto-reload-interval number 0 0 2147483647
            watchdog-period number 0 0 2147483647 hidden
            """;

    private SettingsWithoutEffect() {}

    static List<Setting> all() {
        List<Setting> settings = new ArrayList<>();
        for (String line : LINES.split("\n")) {
            List<String> words = ConfigReader.split(line);
            if (words == null) {
                throw new IllegalStateException(line);
            }
            if (!words.isEmpty()) {
                settings.add(setting(words));
            }
        }
        return settings;
    }

    private static Setting setting(List<String> words) {
        String[] names = words.getFirst().split("\\|");
        Kind kind = switch (words.get(1)) {
            case "bool" -> Kind.BOOLEAN;
            case "choice" -> Kind.CHOICE;
            case "text" -> Kind.TEXT;
            case "number" -> Kind.INTEGER;
            case "memory" -> Kind.MEMORY;
            case "share" -> Kind.MEMORY_OR_PERCENT;
            default -> throw new IllegalStateException(words.toString());
        };
        boolean ranged = kind == Kind.INTEGER || kind == Kind.MEMORY;
        long minimum = ranged ? Long.parseLong(words.get(3)) : 0;
        long maximum = kind == Kind.MEMORY_OR_PERCENT || ranged && words.get(4).equals("max")
                ? Settings.MAX
                : ranged ? Long.parseLong(words.get(4)) : 0;
        List<String> choice = kind == Kind.CHOICE ? List.of(words.get(3).split(",")) : List.of();
        Set<Trait> traits = EnumSet.of(Trait.WITHOUT_EFFECT);
        if (words.contains("fixed")) {
            traits.add(Trait.FIXED);
        }
        if (words.contains("hidden")) {
            traits.add(Trait.HIDDEN);
        }
        return new Setting(names[0], kind, words.get(2), minimum, maximum, choice, traits,
                names.length > 1 ? names[1] : null);
    }
}
