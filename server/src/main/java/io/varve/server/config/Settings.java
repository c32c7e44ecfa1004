package io.varve.server.config;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.flash.policy.Policies;
import io.varve.flash.tier.Admission;
import io.varve.memory.CurveSettings;
import io.varve.memory.PenaltySettings;
import io.varve.memory.collection.CollectionTree;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.locality.DemandSettings;
import io.varve.memory.locality.PenaltyRanges;
import io.varve.server.config.Setting.Kind;
import org.jspecify.annotations.Nullable;

/** The catalogue of all settings. Immutable: static methods only. */
public final class Settings {
    static final long MAX = Long.MAX_VALUE;
    private static final boolean FIXED = false;
    private static final boolean CHANGEABLE = true;

    private static final Map<String, Setting> ALL = new LinkedHashMap<>();
    private static final Map<String, Setting> BY_ANY_NAME = new LinkedHashMap<>();

    static {
        network();
        access();
        tls();
        memory();
        ours();
        flash();
        observation();
        inert();
    }

    private Settings() {}

    /** The setting of this name or alias, in any case; null if there is none. */
    public static @Nullable Setting find(String name) {
        return BY_ANY_NAME.get(name.toLowerCase(Locale.ROOT));
    }

    /** All settings by name. */
    public static Map<String, Setting> all() {
        return Collections.unmodifiableMap(ALL);
    }

    private static void network() {
        integer("port", "6379", 0, 65535, FIXED);
        text("bind", "127.0.0.1", FIXED);
        integer("tcp-backlog", "511", 0, Integer.MAX_VALUE, FIXED);
        integer("maxclients", "10000", 1, 0xFFFF_FFFFL, CHANGEABLE);
        integer("timeout", "0", 0, Integer.MAX_VALUE, CHANGEABLE);
        integer("tcp-keepalive", "300", 0, Integer.MAX_VALUE, CHANGEABLE);
        text("requirepass", "", CHANGEABLE);
        bool("protected-mode", "yes", CHANGEABLE);
        // Redis's default is no. From its own machine a cache may be looked into; DEBUG SLEEP stops only its event loop.
        choice("enable-debug-command", "local", FIXED, List.of("no", "yes", "local"));
        memory("proto-max-bulk-len", "536870912", 1 << 20, Integer.MAX_VALUE, CHANGEABLE);
        memory("client-query-buffer-limit", "1073741824", 1 << 20, MAX, CHANGEABLE);
        add(new Setting("client-output-buffer-limit", Kind.BUFFER_LIMITS,
                "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60", 0, 0, List.of(), CHANGEABLE,
                false, null));
        integer("databases", "16", 1, 16, FIXED);
        text("dir", System.getProperty("user.dir", "."), CHANGEABLE);
    }

    /** Who may do what. */
    private static void access() {
        text("aclfile", "", FIXED);
        integer("acllog-max-len", "128", 0, MAX, CHANGEABLE);
        choice("acl-pubsub-default", "resetchannels", CHANGEABLE, List.of("resetchannels", "allchannels"));
    }

    private static void tls() {
        integer("tls-port", "0", 0, 65535, FIXED);
        for (String name : List.of("tls-cert-file", "tls-key-file", "tls-key-file-pass", "tls-ca-cert-file",
                "tls-ca-cert-dir")) {
            text(name, "", CHANGEABLE);
        }
        choice("tls-auth-clients", "yes", CHANGEABLE, List.of("yes", "no", "optional"));
        text("tls-protocols", "", CHANGEABLE);
        text("tls-ciphers", "", CHANGEABLE);
        text("tls-ciphersuites", "", CHANGEABLE);
        bool("tls-prefer-server-ciphers", "no", CHANGEABLE);
        bool("tls-session-caching", "yes", CHANGEABLE);
        integer("tls-session-cache-size", "20480", 0, Integer.MAX_VALUE, CHANGEABLE);
        integer("tls-session-cache-timeout", "300", 0, Integer.MAX_VALUE, CHANGEABLE);
    }

    private static void memory() {
        memory("maxmemory", "0", 0, MAX, CHANGEABLE);
        choice("maxmemory-policy", "noeviction", CHANGEABLE,
                Arrays.stream(EvictionPolicy.values()).map(EvictionPolicy::redisName).toList());
        // Redis takes any number. Here 64 items are drawn to tell the worst share of all, which no larger number would
        // make finer: it is refused rather than taken and not kept.
        integer("maxmemory-samples", "5", 1, 64, CHANGEABLE);
        aliased("hash-max-listpack-entries", "hash-max-ziplist-entries", Kind.INTEGER, "512", MAX);
        aliased("hash-max-listpack-value", "hash-max-ziplist-value", Kind.MEMORY, "64", MAX);
        integer("set-max-intset-entries", "512", 0, MAX, CHANGEABLE);
        integer("set-max-listpack-entries", "128", 0, MAX, CHANGEABLE);
        integer("set-max-listpack-value", "64", 0, MAX, CHANGEABLE);
        memory("hll-sparse-max-bytes", "3000", 0, MAX, CHANGEABLE);
        aliased("zset-max-listpack-entries", "zset-max-ziplist-entries", Kind.INTEGER, "128", MAX);
        aliased("zset-max-listpack-value", "zset-max-ziplist-value", Kind.MEMORY, "64", MAX);
    }

    private static void ours() {
        integer("io-threads", Integer.toString(MemoryPlan.ofThisProcess().mostEventLoops()), 1, 128,
                FIXED);
        integer("io-thread-slice-us", "100", 0, 100_000, FIXED);
        choice("transport", "auto", FIXED, List.of("auto", "epoll", "io_uring", "nio"));
        add(new Setting("shards", Kind.AUTO_INTEGER, "auto", 1, 1024, List.of(), FIXED, false, null));
        add(new Setting("segment-size", Kind.AUTO_MEMORY, "auto", 4096, 8 << 20, List.of(), FIXED, false, null));
        integer("segment-heads", "6", 1, 8, FIXED);
        choice("cleaner-policy", "modified", CHANGEABLE, List.of("modified", "original", "greedy"));
        choice("expire-algorithm", "wheel", FIXED, List.of("wheel", "bucket", "random"));
        integer("expire-bucket-base-ms", "1000", 1, Integer.MAX_VALUE, FIXED);
        integer("expire-buckets", "120", 2, 1 << 16, FIXED);
        integer("expire-cycle-ms", "100", 1, 60_000, CHANGEABLE);
        bool("touch-ahead", "yes", CHANGEABLE);
        bool("mrc-tracking", "no", CHANGEABLE);
        integer("mrc-window", Long.toString(CurveSettings.USUAL_WINDOW), CurveSettings.LEAST_WINDOW, MAX, CHANGEABLE);
        bool("penalty-tracking", "no", CHANGEABLE);
        integer("penalty-classes", Integer.toString(PenaltyRanges.MOST), 1, PenaltyRanges.MOST, FIXED);
        integer("penalty-floor", "0", 0, PenaltySettings.MOST_FLOOR_PERCENT, CHANGEABLE);
        demand();
        integer("packed-max-entries", Integer.toString(CollectionTree.MOST_PACKED_ENTRIES), 0, Integer.MAX_VALUE,
                CHANGEABLE);
        memory("packed-max-bytes", Integer.toString(CollectionTree.MOST_PACKED_BYTES), 0, Integer.MAX_VALUE,
                CHANGEABLE);
    }

    /** When the demand for a class of penalty is taken for periodic. */
    private static void demand() {
        DemandSettings usual = DemandSettings.DEFAULT;
        bool("demand-cycles", "no", CHANGEABLE);
        integer("demand-slot-ms", Long.toString(usual.slotMillis()), 100, 3_600_000, CHANGEABLE);
        integer("demand-duration", Integer.toString(usual.durationSlots()), 1, 100, CHANGEABLE);
        integer("demand-history", Integer.toString(usual.historySlots()), 3, 20_000, CHANGEABLE);
        integer("demand-misses", Integer.toString(usual.misses()), 1, Integer.MAX_VALUE, CHANGEABLE);
    }

    /** The tier below memory, which is there if it has a directory. */
    private static void flash() {
        text("flash-dir", "", FIXED);
        integer("flash-max-items", "1000000", 1, Integer.MAX_VALUE, FIXED);
        memory("flash-max-size", "0", 0, MAX, FIXED);
        choice("flash-policy", "tbf", FIXED, Arrays.stream(Policies.values()).map(Policies::optionName).toList());
        choice("flash-admission", "all", FIXED,
                Arrays.stream(Admission.Kind.values()).map(Admission.Kind::optionName).toList());
        integer("flash-admission-percent", "50", 1, 100, FIXED);
        bool("flash-sync", "no", FIXED);
        choice("flash-threads", "2", FIXED, List.of("1", "2", "4", "8", "16"));
        memory("flash-queue-size", "8388608", 1 << 16, MAX, FIXED);
        memory("flash-cache-size", "16777216", 1 << 20, MAX, FIXED);
    }

    private static void observation() {
        add(new Setting("notify-keyspace-events", Kind.EVENTS, "", 0, 0, List.of(), CHANGEABLE, false, null));
        integer("slowlog-log-slower-than", "10000", -1, MAX, CHANGEABLE);
        integer("tracking-table-max-keys", "1000000", 0, MAX, CHANGEABLE);
        integer("slowlog-max-len", "128", 0, MAX, CHANGEABLE);
        integer("latency-monitor-threshold", "0", 0, MAX, CHANGEABLE);
        bool("latency-tracking", "yes", CHANGEABLE);
        text("latency-tracking-info-percentiles", "50 99 99.9", CHANGEABLE);
        choice("loglevel", "notice", CHANGEABLE, List.of("debug", "verbose", "notice", "warning", "nothing"));
        integer("hz", "10", 1, 500, CHANGEABLE);
        integer("metrics-port", "0", 0, 65535, FIXED);
        text("metrics-bind", "127.0.0.1", FIXED);
    }

    /** What files and clients carry and what means nothing here (yet): accepted, checked, shown. */
    private static void inert() {
        add(new Setting("save", Kind.SAVE, "", 0, 0, List.of(), CHANGEABLE, true, null));
        inertBools("no", "appendonly", "cluster-enabled", "activedefrag", "no-appendfsync-on-rewrite", "daemonize",
                "syslog-enabled", "lazyfree-lazy-eviction", "lazyfree-lazy-expire", "lazyfree-lazy-server-del",
                "lazyfree-lazy-user-del", "lazyfree-lazy-user-flush", "replica-lazy-flush", "always-show-logo",
                "set-proc-title", "aof-timestamp-enabled", "cluster-allow-reads-when-down",
                "cluster-allow-pubsubshard-when-down", "crash-log-enabled", "crash-memcheck-enabled",
                "use-exit-on-panic", "disable-thp", "replica-announced", "tls-cluster", "tls-replication",
                "rdb-del-sync-files", "replica-ignore-disk-write-errors",
                "cluster-allow-replica-migration", "aof-disable-auto-gc", "io-threads-do-reads");
        inertBools("yes", "activerehashing", "appendfsync-no-rewrite", "rdbcompression", "rdbchecksum",
                "stop-writes-on-bgsave-error", "aof-load-truncated", "aof-use-rdb-preamble",
                "aof-rewrite-incremental-fsync", "rdb-save-incremental-fsync", "dynamic-hz", "jemalloc-bg-thread",
                "replica-serve-stale-data", "replica-read-only", "repl-diskless-sync", "replica-ignore-maxmemory",
                "cluster-require-full-coverage");
        inertTexts("", "dbfilename", "dump.rdb", "appendfilename", "appendonly.aof", "appenddirname", "appendonlydir",
                "unixsocket", "", "unixsocketperm", "0", "logfile", "", "pidfile", "", "syslog-ident", "redis",
                "syslog-facility", "local0", "masterauth", "", "masteruser", "", "replicaof", "",
                "proc-title-template", "{title} {listen-addr} {server-mode}", "locale-collate", "",
                "tls-dh-params-file", "", "supervised", "no", "server_cpulist", "", "bio_cpulist", "",
                "aof_rewrite_cpulist", "", "bgsave_cpulist", "", "replica-announce-ip", "", "bind-source-addr", "",
                "cluster-config-file", "nodes.conf", "cluster-announce-ip", "", "cluster-announce-hostname", "",
                "ignore-warnings", "", "oom-score-adj-values", "0 200 800",
                "socket-mark-id", "0", "enable-protected-configs", "no",
                "enable-module-command", "no", "tls-client-cert-file", "",
                "tls-client-key-file", "", "tls-client-key-file-pass", "", "shutdown-timeout", "10",
                "shutdown-on-sigterm", "default",
                "shutdown-on-sigint", "default", "sanitize-dump-payload", "no", "propagation-error-behavior", "ignore",
                "repl-diskless-load", "disabled", "oom-score-adj", "no");
        add(new Setting("appendfsync", Kind.CHOICE, "everysec", 0, 0, List.of("always", "everysec", "no"), CHANGEABLE,
                true, null));
        add(new Setting("list-max-listpack-size", Kind.INTEGER, "-2", Integer.MIN_VALUE, Integer.MAX_VALUE, List.of(),
                CHANGEABLE, true, "list-max-ziplist-size"));
        add(new Setting("list-compress-depth", Kind.INTEGER, "0", 0, Integer.MAX_VALUE, List.of(), CHANGEABLE, true,
                null));
        add(new Setting("maxmemory-clients", Kind.MEMORY_OR_PERCENT, "0", 0, MAX, List.of(), CHANGEABLE, true, null));
        inertNumbers("lfu-log-factor", 10, "lfu-decay-time", 1, "active-expire-effort", 1,
                "maxmemory-eviction-tenacity", 10, "stream-node-max-bytes", 4096,
                "stream-node-max-entries", 100,
                "auto-aof-rewrite-percentage", 100, "auto-aof-rewrite-min-size",
                67_108_864, "repl-backlog-size", 1_048_576, "repl-backlog-ttl", 3600, "repl-timeout", 60,
                "repl-ping-replica-period", 10, "repl-diskless-sync-delay", 5, "repl-diskless-sync-max-replicas", 0,
                "replica-priority", 100, "min-replicas-to-write", 0, "min-replicas-max-lag", 10, "busy-reply-threshold",
                5000, "lua-time-limit", 5000, "active-defrag-threshold-lower", 10, "active-defrag-threshold-upper", 100,
                "active-defrag-ignore-bytes", 104_857_600, "active-defrag-cycle-min", 1, "active-defrag-cycle-max", 25,
                "active-defrag-max-scan-fields", 1000, "cluster-node-timeout", 15_000,
                "cluster-migration-barrier", 1, "cluster-replica-validity-factor", 10, "cluster-port", 0,
                "cluster-announce-port", 0, "cluster-announce-bus-port", 0, "cluster-announce-tls-port", 0,
                "cluster-link-sendbuf-limit", 0, "replica-announce-port", 0, "max-new-connections-per-cycle", 10,
                "watchdog-period", 0,
                "key-load-delay", 0, "slowlog-max-arg-len", 128);
    }

    private static void add(Setting setting) {
        ALL.put(setting.name(), setting);
        BY_ANY_NAME.put(setting.name(), setting);
        if (setting.alias() != null) {
            BY_ANY_NAME.put(setting.alias(), setting);
        }
    }

    private static void integer(String name, String value, long minimum, long maximum, boolean changeable) {
        add(new Setting(name, Kind.INTEGER, value, minimum, maximum, List.of(), changeable, false, null));
    }

    private static void memory(String name, String value, long minimum, long maximum, boolean changeable) {
        add(new Setting(name, Kind.MEMORY, value, minimum, maximum, List.of(), changeable, false, null));
    }

    private static void aliased(String name, String alias, Kind kind, String value, long maximum) {
        add(new Setting(name, kind, value, 0, maximum, List.of(), CHANGEABLE, false, alias));
    }

    private static void bool(String name, String value, boolean changeable) {
        add(new Setting(name, Kind.BOOLEAN, value, 0, 0, List.of(), changeable, false, null));
    }

    private static void choice(String name, String value, boolean changeable, List<String> words) {
        add(new Setting(name, Kind.CHOICE, value, 0, 0, words, changeable, false, null));
    }

    private static void text(String name, String value, boolean changeable) {
        add(new Setting(name, Kind.TEXT, value, 0, 0, List.of(), changeable, false, null));
    }

    private static void inertBools(String value, String... names) {
        for (String name : names) {
            add(new Setting(name, Kind.BOOLEAN, value, 0, 0, List.of(), CHANGEABLE, true, null));
        }
    }

    private static void inertTexts(String... pairs) {
        for (int i = pairs.length % 2; i < pairs.length; i += 2) {
            add(new Setting(pairs[i], Kind.TEXT, pairs[i + 1], 0, 0, List.of(), CHANGEABLE, true, null));
        }
    }

    private static void inertNumbers(Object... pairs) {
        for (int i = 0; i < pairs.length; i += 2) {
            add(new Setting((String) pairs[i], Kind.MEMORY, pairs[i + 1].toString(), Long.MIN_VALUE, MAX, List.of(),
                    CHANGEABLE, true, null));
        }
    }
}
