package io.varve.server.config;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

import io.varve.cluster.protocol.ControllerAddress;
import io.varve.flash.policy.Policies;
import io.varve.flash.tier.Admission;
import io.varve.flash.tier.FlashTierSettings;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.CurveSettings;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.locality.demand.DemandSettings;
import io.varve.memory.segment.CleanerPolicy;
import io.varve.server.keys.KeyHashSlots;
import org.jspecify.annotations.Nullable;

/** The values of all settings. Immutable; {@link #with} creates a changed copy. */
public final class ServerConfig {
    /**
     * Maximum size of a listpack. It is searched and moved as a whole, under its shard's lock: this size takes about 50
     * µs for each element of a command.
     */
    private static final long MAX_LISTPACK_BYTES = 256 << 10;
    private static final int LISTPACK_PART_OF_MAXMEMORY = 64;

    private final Map<String, String> values;
    private final @Nullable Path file;
    private final Directives directives;
    private final long maxMemoryBytes;
    private final String password;
    private final long slowlogMicros;
    private final long latencyThresholdMillis;
    private final boolean latencyTracking;
    private final boolean touchAhead;
    private final long minReplicasToWrite;
    private final long maxBulkBytes;
    private final long queryBufferLimitBytes;
    private final long hashMaxListpackEntries;
    private final long hashMaxListpackValueBytes;
    private final long setMaxIntsetEntries;
    private final long setMaxListpackEntries;
    private final long setMaxListpackValueBytes;
    private final long hllSparseMaxBytes;
    private final long streamNodeMaxBytes;
    private final long streamNodeMaxEntries;
    private final long zsetMaxListpackEntries;
    private final long zsetMaxListpackValueBytes;
    private final long packedMaxEntries;
    private final long packedMaxBytes;
    private final long listpackHashBytes;
    private final long listpackSetBytes;
    private final OutputBufferLimits outputBufferLimits;

    private ServerConfig(Map<String, String> values, @Nullable Path file, Directives directives) {
        this.values = values;
        this.file = file;
        this.directives = directives;
        long configured = number("maxmemory");
        maxMemoryBytes = configured == 0 ? MemoryPlan.ofThisProcess().defaultMaxMemoryBytes() : configured;
        password = text("requirepass");
        slowlogMicros = number("slowlog-log-slower-than");
        latencyThresholdMillis = number("latency-monitor-threshold");
        latencyTracking = bool("latency-tracking");
        touchAhead = bool("touch-ahead");
        minReplicasToWrite = number("min-replicas-to-write");
        maxBulkBytes = number("proto-max-bulk-len");
        queryBufferLimitBytes = number("client-query-buffer-limit");
        hashMaxListpackEntries = number("hash-max-listpack-entries");
        hashMaxListpackValueBytes = number("hash-max-listpack-value");
        setMaxIntsetEntries = number("set-max-intset-entries");
        setMaxListpackEntries = number("set-max-listpack-entries");
        setMaxListpackValueBytes = number("set-max-listpack-value");
        hllSparseMaxBytes = number("hll-sparse-max-bytes");
        streamNodeMaxBytes = number("stream-node-max-bytes");
        streamNodeMaxEntries = number("stream-node-max-entries");
        zsetMaxListpackEntries = number("zset-max-listpack-entries");
        zsetMaxListpackValueBytes = number("zset-max-listpack-value");
        packedMaxEntries = number("packed-max-entries");
        packedMaxBytes = number("packed-max-bytes");
        listpackHashBytes = listpackBytes("hash-max-listpack-entries", "hash-max-listpack-value");
        listpackSetBytes = listpackBytes("set-max-listpack-entries", "set-max-listpack-value");
        String limits = text("client-output-buffer-limit");
        outputBufferLimits = OutputBufferLimits.parse(limits, limits);
    }

    /** The configuration without any settings. */
    public static ServerConfig defaults() {
        Map<String, String> values = new LinkedHashMap<>();
        Settings.all().values().forEach(setting -> values.put(setting.name(), setting.defaultValue()));
        return new ServerConfig(values, null, Directives.NONE);
    }

    /**
     * A changed configuration.
     *
     * @throws ConfigException in one line: setting, value, and allowed values
     */
    public ServerConfig with(String name, String value) {
        Setting setting = Settings.find(name);
        if (setting == null) {
            throw new ConfigException(name + " " + value + ": there is no such setting");
        }
        String normal;
        try {
            normal = setting.normalize(value);
        } catch (ConfigException bad) {
            throw new ConfigException(setting.name() + " " + (setting.isSecret() ? "(hidden)" : value) + ": expected "
                    + setting.allowed());
        }
        return withNormal(setting, normal);
    }

    /** Sets a value that has passed {@link Setting#normalize}. */
    public ServerConfig withNormal(Setting setting, String normal) {
        Map<String, String> changed = new LinkedHashMap<>(values);
        changed.put(setting.name(), normal);
        return new ServerConfig(changed, file, directives);
    }

    /** These settings with the file that CONFIG REWRITE writes. */
    ServerConfig withFile(Path path) {
        return new ServerConfig(values, path, directives);
    }

    ServerConfig with(Directives changed) {
        return new ServerConfig(values, file, changed);
    }

    Directives directives() {
        return directives;
    }

    /** The users of the configuration's lines. */
    public List<UserLine> users() {
        return directives.users();
    }

    /** These settings without the users' lines, once the users are created: so no password is kept. */
    public ServerConfig withoutUsers() {
        return with(directives.withoutUsers());
    }

    /** From commands' names to their new ones, which are empty if a command is disabled. */
    public Map<String, String> renames() {
        return directives.renames();
    }

    /** The file that a setting names, relative to {@code dir}; null if it names none. */
    private @Nullable Path fileOf(String setting) {
        String name = text(setting);
        return name.isEmpty() ? null : Path.of(text("dir")).resolve(name);
    }

    /** {@code unixsocket}; null if there is none. */
    public @Nullable Path unixSocket() {
        return fileOf("unixsocket");
    }

    /** {@code pidfile}; null if there is none. */
    public @Nullable Path pidFile() {
        return fileOf("pidfile");
    }

    /** {@code logfile}; null if the log goes to standard error. */
    public @Nullable Path logFile() {
        return fileOf("logfile");
    }

    /** The users' file; null if users are in the configuration. */
    public @Nullable Path aclFile() {
        return fileOf("aclfile");
    }

    /** The absolute path of the file that the settings were read from; null if there was none. */
    public @Nullable Path file() {
        return file;
    }

    /**
     * Checks the combination of values.
     *
     * @throws ConfigException if the configuration cannot work
     */
    public ServerConfig validate() {
        List<SettingProblem> problems = problems();
        if (!problems.isEmpty()) {
            throw new ConfigException(problems.stream().map(SettingProblem::line).collect(Collectors.joining("\n")));
        }
        return this;
    }

    /** All problems of the configuration as a whole. */
    List<SettingProblem> problems() {
        List<SettingProblem> problems = new ArrayList<>();
        for (Setting setting : Settings.all().values()) {
            String value = asSet(setting.name());
            String reason = UnsupportedValues.reason(setting, value, text("supervised"));
            if (reason != null) {
                problems.add(new SettingProblem(setting.name(), value, reason));
            }
        }
        checkDirectory(problems);
        checkCluster(problems);
        if (text("bind").isEmpty() && text("unixsocket").isEmpty()) {
            problems.add(new SettingProblem("bind", "\"\"",
                    "no client could connect: set an address or a unixsocket"));
        }
        try {
            MemoryPlan.ofThisProcess().require(maxMemoryBytes);
            cacheConfig();
        } catch (ConfigException | IllegalArgumentException bad) {
            problems.add(SettingProblem.of(String.valueOf(bad.getMessage())));
        }
        return problems;
    }

    /** Finds settings that do not fit a member of a cluster. */
    private void checkCluster(List<SettingProblem> problems) {
        String controllers = text("cluster-controllers");
        if (!bool("cluster-enabled")) {
            if (!controllers.isEmpty()) {
                problems.add(
                        new SettingProblem("cluster-controllers", controllers, "expected cluster-enabled yes with it"));
            }
            return;
        }
        if (flashDirectory().isPresent()) {
            problems.add(new SettingProblem("flash-dir", text("flash-dir"),
                    "expected none with cluster-enabled yes: the flash tier cannot list the keys of a hash slot"));
        }
        if (controllers.isEmpty()) {
            return;
        }
        try {
            ControllerAddress.parseList(controllers);
        } catch (IllegalArgumentException invalid) {
            problems.add(new SettingProblem("cluster-controllers", controllers, String.valueOf(invalid.getMessage())));
        }
        if (bool("tls-replication") && intNumber("port") != 0) {
            problems.add(new SettingProblem("tls-replication", "yes", "expected port 0 with cluster-controllers: the"
                    + " members connect to the port that they announce, which is the one without TLS"));
        }
    }

    /** Varve stores nothing in {@code dir}, so it may be missing as long as no other setting names a file in it. */
    private void checkDirectory(List<SettingProblem> problems) {
        if (hasDirectory()) {
            return;
        }
        for (String name : List.of("aclfile", "logfile", "pidfile", "unixsocket")) {
            String file = text(name);
            if (!file.isEmpty() && !Path.of(file).isAbsolute()) {
                problems.add(new SettingProblem("dir", text("dir"),
                        "there is no such directory, but " + name + " " + file + " is relative to it"));
                return;
            }
        }
    }

    /** Whether {@code dir} exists. */
    boolean hasDirectory() {
        return Files.isDirectory(Path.of(text("dir")));
    }

    /** The value as it was set, where CONFIG GET shows the effective one. */
    String asSet(String name) {
        return Objects.requireNonNull(values.get(name));
    }

    /** The value in the form that CONFIG GET shows. */
    public String text(String name) {
        if (name.equals("maxmemory") && values.get(name) != null && maxMemoryBytes > 0) {
            return Long.toString(maxMemoryBytes);
        }
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("There is no setting " + name);
        }
        return value;
    }

    /** {@code pin-max-bytes}: the most bytes that pinned keys may take when one more is pinned. */
    public long pinMaxBytes() {
        String value = text("pin-max-bytes");
        return value.endsWith("%")
                ? maxMemoryBytes / 100 * Integer.parseInt(value.substring(0, value.length() - 1))
                : Long.parseLong(value);
    }

    public long number(String name) {
        String value = text(name);
        return value.equals("auto") ? 0 : Long.parseLong(value);
    }

    public int intNumber(String name) {
        return Math.toIntExact(number(name));
    }

    public boolean bool(String name) {
        return text(name).equals("yes");
    }

    /** The effective {@code maxmemory}; for 0, {@link MemoryPlan#defaultMaxMemoryBytes}. */
    public long maxMemoryBytes() {
        return maxMemoryBytes;
    }

    /** {@code requirepass}; empty if none is needed. */
    public String password() {
        return password;
    }

    /** Minimum duration of slow-log entries in µs; negative: none. */
    public long slowlogMicros() {
        return slowlogMicros;
    }

    /** How many replicas have to be up to date for a write. */
    public long minReplicasToWrite() {
        return minReplicasToWrite;
    }

    public long latencyThresholdMillis() {
        return latencyThresholdMillis;
    }

    public boolean latencyTracking() {
        return latencyTracking;
    }

    /** Whether a batch prefetches its index lines and items before it executes; a switch for measurements. */
    public boolean touchAhead() {
        return touchAhead;
    }

    /** {@code proto-max-bulk-len}: maximum length of an argument and of a string. */
    public long maxBulkBytes() {
        return maxBulkBytes;
    }

    /** {@code client-query-buffer-limit}: maximum size of a client's input that is not executed yet. */
    public long queryBufferLimitBytes() {
        return queryBufferLimitBytes;
    }

    /** {@code hash-max-listpack-entries}: OBJECT ENCODING reports a hash with more fields as a hashtable. */
    public long hashMaxListpackEntries() {
        return hashMaxListpackEntries;
    }

    /** {@code hash-max-listpack-value}: OBJECT ENCODING reports a hash with a longer field or value as a hashtable. */
    public long hashMaxListpackValueBytes() {
        return hashMaxListpackValueBytes;
    }

    /** {@code set-max-intset-entries}: OBJECT ENCODING reports a set of more integers as a hashtable. */
    public long setMaxIntsetEntries() {
        return setMaxIntsetEntries;
    }

    /**
     * {@code set-max-listpack-entries}: OBJECT ENCODING reports a set with more members, not all integers, as a
     * hashtable.
     */
    public long setMaxListpackEntries() {
        return setMaxListpackEntries;
    }

    /** {@code set-max-listpack-value}: OBJECT ENCODING reports a set with a longer member as a hashtable. */
    public long setMaxListpackValueBytes() {
        return setMaxListpackValueBytes;
    }

    /** {@code hll-sparse-max-bytes}: a longer HyperLogLog becomes dense. */
    public long hllSparseMaxBytes() {
        return hllSparseMaxBytes;
    }

    /** {@code stream-node-max-bytes}: bytes from which on a block of a stream gets no more entries; 0: any. */
    public long streamNodeMaxBytes() {
        return streamNodeMaxBytes;
    }

    /** {@code stream-node-max-entries}: the most entries of a block of a stream; 0: any. */
    public long streamNodeMaxEntries() {
        return streamNodeMaxEntries;
    }

    /** {@code zset-max-listpack-entries}: OBJECT ENCODING reports a sorted set with more members as a skiplist. */
    public long zsetMaxListpackEntries() {
        return zsetMaxListpackEntries;
    }

    /** {@code zset-max-listpack-value}: OBJECT ENCODING reports a sorted set with a longer member as a skiplist. */
    public long zsetMaxListpackValueBytes() {
        return zsetMaxListpackValueBytes;
    }

    /**
     * Whether a collection of this size stays in one item: {@code packed-max-entries}, {@code packed-max-bytes}. A
     * collection of one element always does.
     */
    public boolean staysPacked(long entries, long bytes) {
        return entries <= 1 || entries <= packedMaxEntries && bytes <= packedMaxBytes;
    }

    /**
     * Whether a hash that OBJECT ENCODING reports as a listpack stays in one item, and so in insertion order, although
     * it is beyond {@link #staysPacked}. This holds if one of Redis's limits for hashes is raised above its default
     * (decision 18).
     */
    public boolean staysListpackHash(long fields, long bytes) {
        return fields <= hashMaxListpackEntries && bytes <= listpackHashBytes;
    }

    /** Whether such a set stays in one item, under the corresponding limits for sets. */
    public boolean staysListpackSet(long members, long bytes) {
        return members <= setMaxListpackEntries && bytes <= listpackSetBytes;
    }

    /** Maximum bytes of a listpack beyond {@link #staysPacked}; 0 unless one of Redis's limits is raised. */
    private long listpackBytes(String entries, String valueBytes) {
        return isRaised(entries) || isRaised(valueBytes)
                ? Math.min(MAX_LISTPACK_BYTES, maxMemoryBytes / LISTPACK_PART_OF_MAXMEMORY)
                : 0;
    }

    private boolean isRaised(String name) {
        Setting setting = java.util.Objects.requireNonNull(Settings.find(name));
        return number(name) > Long.parseLong(setting.defaultValue());
    }

    public OutputBufferLimits outputBufferLimits() {
        return outputBufferLimits;
    }

    /** The configuration of the memory tier. @throws IllegalArgumentException if it is invalid */
    public CacheConfig cacheConfig() {
        // As in Redis, a member of a cluster has one database, whatever the setting says.
        int databases = bool("cluster-enabled") ? 1 : intNumber("databases");
        return CacheConfig.defaults(maxMemoryBytes).withDatabases(databases)
                .withShards(intNumber("shards")).withSegmentSizeBytes(intNumber("segment-size"))
                .withMaxOpenSegments(intNumber("segment-heads"))
                .withEvictionPolicy(EvictionPolicy.ofRedisName(text("maxmemory-policy")).orElseThrow())
                .withEvictionSamples(intNumber("maxmemory-samples"))
                .withCleanerPolicy(CleanerPolicy.valueOf(upper("cleaner-policy")))
                .withExpireAlgorithm(ExpireAlgorithm.valueOf(upper("expire-algorithm")))
                .withExpireBaseMillis(intNumber("expire-bucket-base-ms"))
                .withExpireBuckets(intNumber("expire-buckets")).withExpireCycleMillis(intNumber("expire-cycle-ms"))
                .withHotKeys(bool("hotkeys-tracking"))
                .withCurves(new CurveSettings(bool("mrc-tracking"), number("mrc-window")))
                .withPenalties(new PenaltySettings(bool("penalty-tracking"), intNumber("penalty-classes"),
                        intNumber("penalty-floor")))
                .withDemand(demand()).withKeySlots(bool("cluster-enabled") ? KeyHashSlots.INSTANCE : null);
    }

    /** Null if demand is not monitored; the numbers must be consistent regardless. */
    private @Nullable DemandSettings demand() {
        DemandSettings usual = DemandSettings.DEFAULT;
        DemandSettings settings;
        try {
            settings = new DemandSettings(number("demand-slot-ms"), intNumber("demand-history"),
                    intNumber("demand-duration"), usual.swing(), usual.closeness(), usual.returning(),
                    intNumber("demand-misses"));
        } catch (IllegalArgumentException bad) {
            throw new IllegalArgumentException("demand-history " + text("demand-history") + ", demand-duration "
                    + text("demand-duration") + ": " + bad.getMessage(), bad);
        }
        return bool("demand-cycles") ? settings : null;
    }

    /** Whether {@code demand-cycles} cannot work, because penalties are not tracked or there is no flash tier. */
    public boolean demandLacksGround() {
        return bool("demand-cycles") && (flashDirectory().isEmpty() || !cacheConfig().tracksPenalties());
    }

    /** The directory of the flash tier; empty if there is none. */
    public Optional<Path> flashDirectory() {
        String directory = text("flash-dir");
        return directory.isEmpty() ? Optional.empty() : Optional.of(Path.of(directory));
    }

    /** The settings of the flash tier. */
    public FlashTierSettings flashSettings() {
        return FlashTierSettings.of(number("flash-max-items")).withPolicy(Policies.of(text("flash-policy")))
                .withMaxBytes(number("flash-max-size"))
                .withAdmission(Admission.Kind.of(text("flash-admission")), number("flash-admission-percent") / 100.0)
                .withSync(bool("flash-sync")).withThreads(intNumber("flash-threads"))
                .withQueueBytes(number("flash-queue-size"));
    }

    private String upper(String name) {
        return text(name).toUpperCase(Locale.ROOT);
    }
}
