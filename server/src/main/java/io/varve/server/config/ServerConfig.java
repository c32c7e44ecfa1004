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

import io.varve.flash.policy.Policies;
import io.varve.flash.tier.Admission;
import io.varve.flash.tier.FlashTierSettings;
import io.varve.memory.CacheConfig;
import io.varve.memory.CurveSettings;
import io.varve.memory.PenaltySettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.locality.DemandSettings;
import io.varve.memory.segment.CleanerPolicy;
import org.jspecify.annotations.Nullable;

/**
 * The value of every setting. Immutable; {@link #with} makes a changed one.
 */
public final class ServerConfig {
    /** A listpack is searched and moved as a whole, under its shard's lock: so many bytes take some 50 µs for each element of a command. */
    private static final long MOST_LISTPACK_BYTES = 256 << 10;
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
    private final long maxBulkBytes;
    private final long queryBufferLimitBytes;
    private final long hashMaxListpackEntries;
    private final long hashMaxListpackValueBytes;
    private final long setMaxIntsetEntries;
    private final long setMaxListpackEntries;
    private final long setMaxListpackValueBytes;
    private final long hllSparseMaxBytes;
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
        maxBulkBytes = number("proto-max-bulk-len");
        queryBufferLimitBytes = number("client-query-buffer-limit");
        hashMaxListpackEntries = number("hash-max-listpack-entries");
        hashMaxListpackValueBytes = number("hash-max-listpack-value");
        setMaxIntsetEntries = number("set-max-intset-entries");
        setMaxListpackEntries = number("set-max-listpack-entries");
        setMaxListpackValueBytes = number("set-max-listpack-value");
        hllSparseMaxBytes = number("hll-sparse-max-bytes");
        zsetMaxListpackEntries = number("zset-max-listpack-entries");
        zsetMaxListpackValueBytes = number("zset-max-listpack-value");
        packedMaxEntries = number("packed-max-entries");
        packedMaxBytes = number("packed-max-bytes");
        listpackHashBytes = listpackBytes("hash-max-listpack-entries", "hash-max-listpack-value");
        listpackSetBytes = listpackBytes("set-max-listpack-entries", "set-max-listpack-value");
        String limits = text("client-output-buffer-limit");
        outputBufferLimits = OutputBufferLimits.parse(limits, limits);
    }

    /** What a server starts with when nothing is said. */
    public static ServerConfig defaults() {
        Map<String, String> values = new LinkedHashMap<>();
        Settings.all().values().forEach(setting -> values.put(setting.name(), setting.defaultValue()));
        return new ServerConfig(values, null, Directives.NONE);
    }

    /**
     * A changed configuration.
     *
     * @throws ConfigException in one line: setting, value, and what is allowed
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
            throw new ConfigException(setting.name() + " " + (setting.isSecret() ? "(hidden)" : value) + ": allowed is "
                    + setting.allowed());
        }
        return withNormal(setting, normal);
    }

    /** For values that have passed {@link Setting#normalize}. */
    public ServerConfig withNormal(Setting setting, String normal) {
        Map<String, String> changed = new LinkedHashMap<>(values);
        changed.put(setting.name(), normal);
        return new ServerConfig(changed, file, directives);
    }

    /** The same settings, which CONFIG REWRITE writes to this file. */
    ServerConfig withFile(Path path) {
        return new ServerConfig(values, path, directives);
    }

    ServerConfig with(Directives changed) {
        return new ServerConfig(values, file, changed);
    }

    Directives directives() {
        return directives;
    }

    /** The users that lines of the configuration name. */
    public List<UserLine> users() {
        return directives.users();
    }

    /** The same once its users are known: no password of theirs is kept. */
    public ServerConfig withoutUsers() {
        return with(directives.withoutUsers());
    }

    /** From commands' names to their other ones, which are empty if a command has none any more. */
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

    /** Where the users are; null if they are in the configuration. */
    public @Nullable Path aclFile() {
        return fileOf("aclfile");
    }

    /** The file that the settings were read from, absolute; null if there was none. */
    public @Nullable Path file() {
        return file;
    }

    /**
     * Checks what single values cannot tell.
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

    /** All that is wrong with it as a whole. */
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
        if (text("bind").isEmpty() && text("unixsocket").isEmpty()) {
            problems.add(new SettingProblem("bind", "\"\"",
                    "no client could connect: give an address, or a unixsocket"));
        }
        try {
            MemoryPlan.ofThisProcess().require(maxMemoryBytes);
            cacheConfig();
        } catch (ConfigException | IllegalArgumentException bad) {
            problems.add(SettingProblem.of(String.valueOf(bad.getMessage())));
        }
        return problems;
    }

    /** Nothing is kept in {@code dir}: it may be missing as long as no other setting names a file in it. */
    private void checkDirectory(List<SettingProblem> problems) {
        if (hasDirectory()) {
            return;
        }
        for (String name : List.of("aclfile", "logfile", "pidfile", "unixsocket")) {
            String file = text(name);
            if (!file.isEmpty() && !Path.of(file).isAbsolute()) {
                problems.add(new SettingProblem("dir", text("dir"),
                        "there is no such directory, and " + name + " " + file + " is to be in it"));
                return;
            }
        }
    }

    /** Whether {@code dir} is there. */
    boolean hasDirectory() {
        return Files.isDirectory(Path.of(text("dir")));
    }

    /** As it was set, where CONFIG GET shows what it comes to. */
    String asSet(String name) {
        return Objects.requireNonNull(values.get(name));
    }

    /** In the form CONFIG GET shows. */
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

    /** What {@code maxmemory} comes to: if it is 0, {@link MemoryPlan#defaultMaxMemoryBytes}. */
    public long maxMemoryBytes() {
        return maxMemoryBytes;
    }

    /** {@code requirepass}; empty if none is needed. */
    public String password() {
        return password;
    }

    /** Commands slower than so many µs go to the slow log; negative: none. */
    public long slowlogMicros() {
        return slowlogMicros;
    }

    public long latencyThresholdMillis() {
        return latencyThresholdMillis;
    }

    public boolean latencyTracking() {
        return latencyTracking;
    }

    /** Whether a batch touches its index lines and items before it executes; a switch for measurements. */
    public boolean touchAhead() {
        return touchAhead;
    }

    /** {@code proto-max-bulk-len}: no argument is longer, and no string grows beyond it. */
    public long maxBulkBytes() {
        return maxBulkBytes;
    }

    /** {@code client-query-buffer-limit}: what a client may have sent that is not executed yet. */
    public long queryBufferLimitBytes() {
        return queryBufferLimitBytes;
    }

    /** A hash with more fields tells of a hashtable: {@code hash-max-listpack-entries}. */
    public long hashMaxListpackEntries() {
        return hashMaxListpackEntries;
    }

    /** A hash with a longer field or value tells of a hashtable: {@code hash-max-listpack-value}. */
    public long hashMaxListpackValueBytes() {
        return hashMaxListpackValueBytes;
    }

    /** A set of more integers tells of a hashtable: {@code set-max-intset-entries}. */
    public long setMaxIntsetEntries() {
        return setMaxIntsetEntries;
    }

    /** A set with more members, not all of them integers, tells of a hashtable: {@code set-max-listpack-entries}. */
    public long setMaxListpackEntries() {
        return setMaxListpackEntries;
    }

    /** A set with a longer member tells of a hashtable: {@code set-max-listpack-value}. */
    public long setMaxListpackValueBytes() {
        return setMaxListpackValueBytes;
    }

    /** A longer HyperLogLog becomes dense: {@code hll-sparse-max-bytes}. */
    public long hllSparseMaxBytes() {
        return hllSparseMaxBytes;
    }

    /** A sorted set with more members tells of a skiplist: {@code zset-max-listpack-entries}. */
    public long zsetMaxListpackEntries() {
        return zsetMaxListpackEntries;
    }

    /** A sorted set with a longer member tells of a skiplist: {@code zset-max-listpack-value}. */
    public long zsetMaxListpackValueBytes() {
        return zsetMaxListpackValueBytes;
    }

    /**
     * Whether a collection of so many elements and bytes stays in one item: {@code packed-max-entries}, {@code packed-max-bytes}; of one
     * element it always does.
     */
    public boolean staysPacked(long entries, long bytes) {
        return entries <= 1 || entries <= packedMaxEntries && bytes <= packedMaxBytes;
    }

    /**
     * Whether a hash that OBJECT ENCODING calls a listpack stays in one item, and so in the order in which its fields came, although it is
     * beyond {@link #staysPacked}: where one of Redis's limits for hashes is raised above its default (decision 18).
     */
    public boolean staysListpackHash(long fields, long bytes) {
        return fields <= hashMaxListpackEntries && bytes <= listpackHashBytes;
    }

    /** The same for a set. */
    public boolean staysListpackSet(long members, long bytes) {
        return members <= setMaxListpackEntries && bytes <= listpackSetBytes;
    }

    /** Bytes that a listpack may take beyond {@link #staysPacked}; 0 unless one of Redis's limits is raised. */
    private long listpackBytes(String entries, String valueBytes) {
        return isRaised(entries) || isRaised(valueBytes)
                ? Math.min(MOST_LISTPACK_BYTES, maxMemoryBytes / LISTPACK_PART_OF_MAXMEMORY)
                : 0;
    }

    private boolean isRaised(String name) {
        Setting setting = java.util.Objects.requireNonNull(Settings.find(name));
        return number(name) > Long.parseLong(setting.defaultValue());
    }

    public OutputBufferLimits outputBufferLimits() {
        return outputBufferLimits;
    }

    /** What the memory tier is told. @throws IllegalArgumentException if it cannot be */
    public CacheConfig cacheConfig() {
        return CacheConfig.defaults(maxMemoryBytes).withDatabases(intNumber("databases"))
                .withShards(intNumber("shards")).withSegmentSizeBytes(intNumber("segment-size"))
                .withHeads(intNumber("segment-heads"))
                .withEvictionPolicy(EvictionPolicy.ofRedisName(text("maxmemory-policy")).orElseThrow())
                .withEvictionSamples(intNumber("maxmemory-samples"))
                .withCleanerPolicy(CleanerPolicy.valueOf(upper("cleaner-policy")))
                .withExpireAlgorithm(ExpireAlgorithm.valueOf(upper("expire-algorithm")))
                .withExpireBaseMillis(intNumber("expire-bucket-base-ms"))
                .withExpireBuckets(intNumber("expire-buckets")).withExpireCycleMillis(intNumber("expire-cycle-ms"))
                .withCurves(new CurveSettings(bool("mrc-tracking"), number("mrc-window")))
                .withPenalties(new PenaltySettings(bool("penalty-tracking"), intNumber("penalty-classes"),
                        intNumber("penalty-floor")))
                .withDemand(demand());
    }

    /** Null if it is not to be watched; the numbers have to fit together all the same. */
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

    /** Whether {@code demand-cycles} asks for what cannot be: penalties are not tracked, or nothing is below memory. */
    public boolean demandLacksGround() {
        return bool("demand-cycles") && (flashDirectory().isEmpty() || !cacheConfig().tracksPenalties());
    }

    /** Where the tier below memory has its files; empty if there is none. */
    public Optional<Path> flashDirectory() {
        String directory = text("flash-dir");
        return directory.isEmpty() ? Optional.empty() : Optional.of(Path.of(directory));
    }

    /** How the tier below memory is to be. */
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
