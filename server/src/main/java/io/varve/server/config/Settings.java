package io.varve.server.config;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.varve.flash.policy.Policies;
import io.varve.flash.tier.Admission;
import io.varve.memory.collection.CollectionTree;
import io.varve.memory.config.CurveSettings;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.locality.demand.DemandSettings;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.server.config.Setting.Kind;
import io.varve.server.config.Setting.Trait;
import org.jspecify.annotations.Nullable;

/** The catalogue of all settings. Immutable: static methods only. */
public final class Settings {
    static final long MAX = Long.MAX_VALUE;
    private static final Set<Trait> CHANGEABLE = Set.of();
    private static final Set<Trait> PROTECTED = Set.of(Trait.PROTECTED);
    private static final Set<Trait> FIXED = Set.of(Trait.FIXED);

    private static final Map<String, Setting> ALL = new LinkedHashMap<>();
    private static final Map<String, Setting> BY_ANY_NAME = new LinkedHashMap<>();

    static {
        network();
        access();
        tls();
        memory();
        snapshots();
        log();
        replication();
        cluster();
        ours();
        flash();
        observation();
        process();
        SettingsWithoutEffect.all().forEach(Settings::add);
    }

    private Settings() {}

    /** The setting with this name or alias, ignoring case; null if there is none. */
    public static @Nullable Setting find(String name) {
        return BY_ANY_NAME.get(name.toLowerCase(Locale.ROOT));
    }

    /** All settings by name. */
    public static Map<String, Setting> all() {
        return Collections.unmodifiableMap(ALL);
    }

    private static void network() {
        integer("port", "6379", 0, 65535, CHANGEABLE);
        add(new Setting("bind", Kind.ADDRESSES, "127.0.0.1", 0, 0, List.of(), CHANGEABLE, null));
        file("unixsocket");
        add(new Setting("unixsocketperm", Kind.OCTAL, "0", 0, 0777, List.of(), FIXED, null));
        text("unixsocketgroup", "", FIXED);
        integer("tcp-backlog", "511", 0, Integer.MAX_VALUE, FIXED);
        integer("maxclients", "10000", 1, 0xFFFF_FFFFL, CHANGEABLE);
        integer("timeout", "0", 0, Integer.MAX_VALUE, CHANGEABLE);
        integer("tcp-keepalive", "300", 0, Integer.MAX_VALUE, CHANGEABLE);
        text("requirepass", "", CHANGEABLE);
        bool("protected-mode", "yes", CHANGEABLE);
        // Redis's default is no. Local clients may inspect a cache; DEBUG SLEEP stops only its event loop.
        choice("enable-debug-command", "local", FIXED, List.of("no", "yes", "local"));
        choice("enable-protected-configs", "no", FIXED, List.of("no", "yes", "local"));
        memory("proto-max-bulk-len", "536870912", 1 << 20, Integer.MAX_VALUE, CHANGEABLE);
        memory("client-query-buffer-limit", "1073741824", 1 << 20, MAX, CHANGEABLE);
        add(new Setting("client-output-buffer-limit", Kind.BUFFER_LIMITS,
                "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60", 0, 0, List.of(), Set.of(),
                null));
        integer("databases", "16", 1, 16, FIXED);
        add(new Setting("dir", Kind.DIRECTORY, Path.of("").toAbsolutePath().normalize().toString(), 0, 0, List.of(),
                PROTECTED, null));
    }

    /** Snapshots. */
    private static void snapshots() {
        // Redis's default saves every minute to every hour. A cache is usually not meant to survive its process.
        add(new Setting("save", Kind.SAVE, "", 0, 0, List.of(), CHANGEABLE, null));
        text("dbfilename", "dump.rdb", PROTECTED);
        bool("stop-writes-on-bgsave-error", "yes", CHANGEABLE);
        bool("rdbchecksum", "yes", FIXED);
        bool("rdbcompression", "yes", CHANGEABLE);
    }

    /** The append-only log. */
    private static void log() {
        bool("appendonly", "no", CHANGEABLE);
        choice("appendfsync", "everysec", CHANGEABLE, List.of("everysec", "always", "no"));
        text("appenddirname", "appendonlydir", FIXED);
        text("appendfilename", "appendonly.aof", FIXED);
        memory("auto-aof-rewrite-min-size", "67108864", 0, MAX, CHANGEABLE);
        integer("auto-aof-rewrite-percentage", "100", 0, Integer.MAX_VALUE, CHANGEABLE);
        bool("aof-load-truncated", "yes", CHANGEABLE);
        bool("aof-timestamp-enabled", "no", CHANGEABLE);
    }

    /** Replicas of this server. */
    private static void replication() {
        memory("repl-backlog-size", "1048576", 1, MAX, CHANGEABLE);
        integer("repl-backlog-ttl", "3600", 0, MAX, CHANGEABLE);
        integer("repl-timeout", "60", 1, Integer.MAX_VALUE, CHANGEABLE);
        oldName("repl-ping-replica-period", "repl-ping-slave-period", "10", 1);
        add(new Setting("replicaof", Kind.HOST_AND_PORT, "", 0, 0, List.of(), FIXED, "slaveof"));
        add(new Setting("masterauth", Kind.TEXT, "", 0, 0, List.of(), CHANGEABLE, "primaryauth"));
        add(new Setting("masteruser", Kind.TEXT, "", 0, 0, List.of(), CHANGEABLE, "primaryuser"));
        bool("tls-replication", "no", CHANGEABLE);
        add(new Setting("replica-read-only", Kind.BOOLEAN, "yes", 0, 0, List.of(), CHANGEABLE, "slave-read-only"));
        add(new Setting("replica-serve-stale-data", Kind.BOOLEAN, "yes", 0, 0, List.of(), CHANGEABLE,
                "slave-serve-stale-data"));
        add(new Setting("replica-announce-ip", Kind.TEXT, "", 0, 0, List.of(), CHANGEABLE, "slave-announce-ip"));
        add(new Setting("replica-announce-port", Kind.INTEGER, "0", 0, 65535, List.of(), CHANGEABLE,
                "slave-announce-port"));
        oldName("replica-priority", "slave-priority", "100", 0);
        bool("replica-announced", "yes", CHANGEABLE);
        oldName("min-replicas-to-write", "min-slaves-to-write", "0", 0);
        oldName("min-replicas-max-lag", "min-slaves-max-lag", "10", 0);
    }

    private static void oldName(String name, String alias, String value, long minimum) {
        add(new Setting(name, Kind.INTEGER, value, minimum, Integer.MAX_VALUE, List.of(), CHANGEABLE, alias));
    }

    /** The member of a cluster. */
    private static void cluster() {
        bool("cluster-enabled", "no", FIXED);
        text("cluster-controllers", "", FIXED);
        text("cluster-config-file", "nodes.conf", FIXED);
        bool("cluster-require-full-coverage", "yes", CHANGEABLE);
        bool("cluster-allow-reads-when-down", "no", CHANGEABLE);
        bool("cluster-allow-pubsubshard-when-down", "yes", CHANGEABLE);
        text("cluster-announce-ip", "", CHANGEABLE);
        integer("cluster-announce-port", "0", 0, 65535, CHANGEABLE);
        memory("cluster-migration-max-bytes-per-second", "0", 0, MAX, CHANGEABLE);
        integer("cluster-manual-failover-timeout", "5000", 1, Integer.MAX_VALUE, CHANGEABLE);
        integer("shutdown-timeout", "10", 0, Integer.MAX_VALUE, CHANGEABLE);
    }

    /** Access control. */
    private static void access() {
        file("aclfile");
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
        // Redis accepts any number. Here 64 sampled items determine the worst share of all, and more would not refine
        // it: a larger number is rejected rather than ignored.
        integer("maxmemory-samples", "5", 1, 64, CHANGEABLE);
        add(new Setting("pin-max-bytes", Kind.MEMORY_OR_PERCENT, "10%", 0, MAX, List.of(), CHANGEABLE, null));
        aliased("hash-max-listpack-entries", "hash-max-ziplist-entries", Kind.INTEGER, "512", 0);
        aliased("hash-max-listpack-value", "hash-max-ziplist-value", Kind.MEMORY, "64", 0);
        integer("set-max-intset-entries", "512", 0, MAX, CHANGEABLE);
        integer("set-max-listpack-entries", "128", 0, MAX, CHANGEABLE);
        integer("set-max-listpack-value", "64", 0, MAX, CHANGEABLE);
        memory("hll-sparse-max-bytes", "3000", 0, MAX, CHANGEABLE);
        memory("stream-node-max-bytes", "4096", 0, MAX, CHANGEABLE);
        integer("stream-node-max-entries", "100", 0, MAX, CHANGEABLE);
        aliased("zset-max-listpack-entries", "zset-max-ziplist-entries", Kind.INTEGER, "128", 0);
        aliased("zset-max-listpack-value", "zset-max-ziplist-value", Kind.MEMORY, "64", 0);
    }

    private static void ours() {
        integer("io-threads", Integer.toString(MemoryPlan.ofThisProcess().maxEventLoops()), 1, 128,
                FIXED);
        integer("io-thread-slice-us", "100", 0, 100_000, FIXED);
        choice("transport", "auto", FIXED, List.of("auto", "epoll", "io_uring", "nio"));
        add(new Setting("shards", Kind.AUTO_INTEGER, "auto", 1, 1024, List.of(), FIXED, null));
        add(new Setting("segment-size", Kind.AUTO_MEMORY, "auto", 4096, 8 << 20, List.of(), FIXED, null));
        integer("segment-heads", "6", 1, 8, FIXED);
        choice("cleaner-policy", "modified", CHANGEABLE, List.of("modified", "original", "greedy"));
        choice("expire-algorithm", "wheel", FIXED, List.of("wheel", "bucket", "random"));
        integer("expire-bucket-base-ms", "1000", 1, Integer.MAX_VALUE, FIXED);
        integer("expire-buckets", "120", 2, 1 << 16, FIXED);
        integer("expire-cycle-ms", "100", 1, 60_000, CHANGEABLE);
        bool("touch-ahead", "yes", CHANGEABLE);
        bool("hotkeys-tracking", "no", CHANGEABLE);
        bool("mrc-tracking", "no", CHANGEABLE);
        integer("mrc-window", Long.toString(CurveSettings.USUAL_WINDOW), CurveSettings.MIN_WINDOW, MAX, CHANGEABLE);
        bool("penalty-tracking", "no", CHANGEABLE);
        integer("penalty-classes", Integer.toString(PenaltyRanges.MAX_CLASSES), 1, PenaltyRanges.MAX_CLASSES, FIXED);
        integer("penalty-floor", "0", 0, PenaltySettings.MAX_FLOOR_PERCENT, CHANGEABLE);
        demand();
        integer("packed-max-entries", Integer.toString(CollectionTree.MAX_PACKED_ENTRIES), 0, Integer.MAX_VALUE,
                CHANGEABLE);
        memory("packed-max-bytes", Integer.toString(CollectionTree.MAX_PACKED_BYTES), 0, Integer.MAX_VALUE,
                CHANGEABLE);
    }

    /** The detection of periodic demand for a penalty class. */
    private static void demand() {
        DemandSettings usual = DemandSettings.DEFAULT;
        bool("demand-cycles", "no", CHANGEABLE);
        integer("demand-slot-ms", Long.toString(usual.slotMillis()), 100, 3_600_000, CHANGEABLE);
        integer("demand-duration", Integer.toString(usual.durationSlots()), 1, 100, CHANGEABLE);
        integer("demand-history", Integer.toString(usual.historySlots()), 3, 20_000, CHANGEABLE);
        integer("demand-misses", Integer.toString(usual.misses()), 1, Integer.MAX_VALUE, CHANGEABLE);
    }

    /** The flash tier, which exists if it has a directory. */
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

    /** The process's tasks beside serving. */
    private static void process() {
        file("logfile");
        file("pidfile");
        choice("supervised", "no", FIXED, List.of("upstart", "systemd", "auto", "no"));
    }

    private static void observation() {
        add(new Setting("notify-keyspace-events", Kind.EVENTS, "", 0, 0, List.of(), CHANGEABLE, null));
        aliased("slowlog-log-slower-than", "commandlog-execution-slower-than", Kind.INTEGER, "10000", -1);
        integer("tracking-table-max-keys", "1000000", 0, MAX, CHANGEABLE);
        aliased("slowlog-max-len", "commandlog-slow-execution-max-len", Kind.INTEGER, "128", 0);
        aliased("busy-reply-threshold", "lua-time-limit", Kind.INTEGER, "5000", 0);
        integer("latency-monitor-threshold", "0", 0, MAX, CHANGEABLE);
        bool("latency-tracking", "yes", CHANGEABLE);
        add(new Setting("latency-tracking-info-percentiles", Kind.PERCENTILES, "50 99 99.9", 0, 0, List.of(),
                CHANGEABLE, null));
        choice("loglevel", "notice", CHANGEABLE, List.of("debug", "verbose", "notice", "warning", "nothing"));
        integer("hz", "10", 1, 500, CHANGEABLE);
        integer("metrics-port", "0", 0, 65535, FIXED);
        text("metrics-bind", "127.0.0.1", FIXED);
    }

    private static void add(Setting setting) {
        ALL.put(setting.name(), setting);
        BY_ANY_NAME.put(setting.name(), setting);
        if (setting.alias() != null) {
            BY_ANY_NAME.put(setting.alias(), setting);
        }
    }

    private static void integer(String name, String value, long minimum, long maximum, Set<Trait> traits) {
        add(new Setting(name, Kind.INTEGER, value, minimum, maximum, List.of(), traits, null));
    }

    private static void memory(String name, String value, long minimum, long maximum, Set<Trait> traits) {
        add(new Setting(name, Kind.MEMORY, value, minimum, maximum, List.of(), traits, null));
    }

    private static void aliased(String name, String alias, Kind kind, String value, long minimum) {
        add(new Setting(name, kind, value, minimum, MAX, List.of(), CHANGEABLE, alias));
    }

    private static void bool(String name, String value, Set<Trait> traits) {
        add(new Setting(name, Kind.BOOLEAN, value, 0, 0, List.of(), traits, null));
    }

    private static void choice(String name, String value, Set<Trait> traits, List<String> words) {
        add(new Setting(name, Kind.CHOICE, value, 0, 0, words, traits, null));
    }

    private static void text(String name, String value, Set<Trait> traits) {
        add(new Setting(name, Kind.TEXT, value, 0, 0, List.of(), traits, null));
    }

    private static void file(String name) {
        add(new Setting(name, Kind.FILE, "", 0, 0, List.of(), FIXED, null));
    }
}
