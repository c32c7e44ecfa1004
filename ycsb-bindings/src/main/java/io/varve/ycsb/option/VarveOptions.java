package io.varve.ycsb.option;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

/**
 * The binding's settings, read from YCSB's properties. Immutable. A misspelt or out-of-range {@code varve.} property is
 * rejected by name.
 *
 * @param host the server's host
 * @param port the server's port, 1 to 65535
 * @param user the name that is sent with the password; null for the default user
 * @param password sent with AUTH, or null for none
 * @param tls settings of an encrypted connection; null for a plain one
 * @param cluster whether the server is a member of a Redis Cluster, of which the client asks for the others
 * @param record storage format of a YCSB record
 * @param key encoding of a YCSB key
 * @param ttlsMillis the TTLs to draw from, in the order given; empty means that records get none
 * @param ttlDistribution how they are drawn
 * @param ttlMode how a TTL is sent
 * @param index whether inserts and deletes are also written to the stock binding's sorted set
 * @param seed the seed of the TTLs' random streams
 * @param pollMicros how long a client that waits for a reply polls before it sleeps, µs
 * @param nearCacheRecords how many records each client keeps in its own memory; 0: none
 * @param fieldCount number of fields of a whole record: the property of that name of YCSB's core workload
 */
public record VarveOptions(String host, int port, @Nullable String user, @Nullable String password,
        @Nullable TlsOptions tls, boolean cluster, RecordForm record, KeyCoding key,
        List<Long> ttlsMillis, TtlDistribution ttlDistribution, TtlMode ttlMode, Index index, long seed,
        long pollMicros, long nearCacheRecords, int fieldCount) {

    /** Default {@code localhost}. */
    public static final String HOST = "varve.host";
    /** Default 6379. */
    public static final String PORT = "varve.port";
    /** Default: the default user. */
    public static final String USER = "varve.user";
    /** Default: none. */
    public static final String PASSWORD = "varve.password";
    /** {@code false} (default) or {@code true}. */
    public static final String CLUSTER = "varve.cluster";
    /** {@code hash} (default) or {@code string}. */
    public static final String RECORD = "varve.record";
    /** {@code ycsb} (default) or {@code binary8}. */
    public static final String KEY = "varve.key";
    /** Seconds, comma-separated, fractions down to a millisecond; default: empty, no TTL. */
    public static final String TTLS = "varve.ttls";
    /** {@code uniform} (default), {@code zipfian} or {@code constant}. */
    public static final String TTL_DISTRIBUTION = "varve.ttl.distribution";
    /** {@code expire} (default) or {@code ex}. */
    public static final String TTL_MODE = "varve.ttl.mode";
    /** {@code none} (default) or {@code zset}. */
    public static final String INDEX = "varve.index";
    /** A 64-bit number; default 1. */
    public static final String SEED = "varve.seed";
    /** Microseconds; default 0: it sleeps at once. */
    public static final String POLL = "varve.poll-us";
    /** Records of each client; default 0: it keeps none. */
    public static final String NEAR_CACHE = "varve.near.cache";

    /** All of these names, in order. */
    static final Set<String> NAMES = Collections.unmodifiableSet(new TreeSet<>(
            Set.of(HOST, PORT, USER, PASSWORD, TlsOptions.TLS, TlsOptions.AUTHORITIES, TlsOptions.VERIFY, CLUSTER,
                    RECORD, KEY, TTLS, TTL_DISTRIBUTION, TTL_MODE, INDEX, SEED, POLL, NEAR_CACHE)));

    private static final String FIELD_COUNT = "fieldcount";
    private static final int DEFAULT_PORT = 6379;
    private static final int DEFAULT_FIELD_COUNT = 10;
    private static final double MILLIS_PER_SECOND = 1000;
    private static final long MAX_POLL_MICROS = 1_000_000;
    private static final double MAX_TTL_SECONDS = 1e9;
    private static final long MAX_NEAR_CACHE = 1_000_000_000;

    /** The storage format of a YCSB record. */
    public enum RecordForm {
        /** A hash with one field for each of the record's. */
        HASH,
        /** One string that holds all fields (see {@link io.varve.ycsb.record.PackedRecord}). */
        STRING
    }

    /** How TTLs are drawn from the list. */
    public enum TtlDistribution {
        /** Each with equal probability: the paper's Table 2. */
        UNIFORM,
        /** The n-th of the list with a probability proportional to 1 / n^0.99: the first is the most frequent. */
        ZIPFIAN,
        /** Always the first. */
        CONSTANT
    }

    /** How a TTL is sent. */
    public enum TtlMode {
        /** EXPIRE after the write, in its pipeline: the bucket-expiry paper's addition to YCSB (section 4.2). */
        EXPIRE,
        /** SET with EX, one command; string records only. */
        EX
    }

    /** The index that serves scans. */
    public enum Index {
        /** Nothing: scans are not implemented. */
        NONE,
        /** The stock binding's sorted set; its entries never expire. */
        ZSET
    }

    /**
     * Reads the binding's settings.
     *
     * @param properties YCSB's properties
     * @return the settings, with defaults for missing ones
     * @throws IllegalArgumentException with a line that names the property, its value and the allowed values
     */
    public static VarveOptions parse(Properties properties) {
        return read(new PropertyReader(properties, NAMES), RecordForm.HASH);
    }

    /**
     * Reads these settings for a binding that has further ones.
     *
     * @param reader knows the names of both
     * @param recordOrElse the storage format unless {@link #RECORD} is set
     * @throws IllegalArgumentException with a line that names the property, its value and the allowed values
     */
    static VarveOptions read(PropertyReader reader, RecordForm recordOrElse) {
        RecordForm record = reader.choice(RECORD, recordOrElse);
        TtlMode ttlMode = reader.choice(TTL_MODE, TtlMode.EXPIRE);
        if (ttlMode == TtlMode.EX && record != RecordForm.STRING) {
            throw new IllegalArgumentException(TTL_MODE + "=ex is allowed with " + RECORD
                    + "=string only: no command writes a hash with its TTL; with " + RECORD + "=hash use "
                    + TTL_MODE + "=expire");
        }
        String password = reader.text(PASSWORD, "");
        String user = reader.text(USER, "");
        if (password.isEmpty() && !user.isEmpty()) {
            throw PropertyReader.refused(USER, user, "no user without a " + PASSWORD);
        }
        boolean cluster = reader.flag(CLUSTER, false);
        long pollMicros = reader.number(POLL, 0, 0, MAX_POLL_MICROS);
        long nearCacheRecords = reader.number(NEAR_CACHE, 0, 0, MAX_NEAR_CACHE);
        if (cluster && pollMicros > 0) {
            throw PropertyReader.refused(POLL, Long.toString(pollMicros),
                    "0 with " + CLUSTER + "=true: threads of the cluster client wait for replies");
        }
        if (cluster && nearCacheRecords > 0) {
            throw PropertyReader.refused(NEAR_CACHE, Long.toString(nearCacheRecords),
                    "0 with " + CLUSTER + "=true: a near cache follows the changes of one server");
        }
        return new VarveOptions(reader.text(HOST, "localhost"),
                (int) reader.number(PORT, DEFAULT_PORT, 1, 65535), user.isEmpty() ? null : user,
                password.isEmpty() ? null : password, TlsOptions.read(reader), cluster, record,
                reader.choice(KEY, KeyCoding.YCSB), ttls(reader),
                reader.choice(TTL_DISTRIBUTION, TtlDistribution.UNIFORM), ttlMode,
                reader.choice(INDEX, Index.NONE),
                reader.number(SEED, 1, Long.MIN_VALUE, Long.MAX_VALUE), pollMicros, nearCacheRecords,
                (int) reader.number(FIELD_COUNT, DEFAULT_FIELD_COUNT, 1, Integer.MAX_VALUE));
    }

    private static List<Long> ttls(PropertyReader reader) {
        String value = reader.text(TTLS, "");
        if (value.isEmpty()) {
            return List.of();
        }
        String allowed = "seconds above zero, separated by commas, with fractions down to a millisecond"
                + " (15,30,45,60 or 0.5,1.5), or nothing for no TTL";
        String[] parts = value.split(",", -1);
        List<Long> millis = new ArrayList<>();
        for (String part : parts) {
            double seconds;
            try {
                seconds = Double.parseDouble(part.trim());
            } catch (NumberFormatException e) {
                throw PropertyReader.refused(TTLS, value, allowed, e);
            }
            // A NaN fails the comparison too.
            if (!(seconds * MILLIS_PER_SECOND >= 1 && seconds <= MAX_TTL_SECONDS)) {
                throw PropertyReader.refused(TTLS, value, allowed);
            }
            millis.add(Math.round(seconds * MILLIS_PER_SECOND));
        }
        return List.copyOf(millis);
    }

    /** These options for another server. */
    VarveOptions at(String otherHost, int otherPort) {
        return new VarveOptions(otherHost, otherPort, user, password, tls, cluster, record, key, ttlsMillis,
                ttlDistribution, ttlMode, index, seed, pollMicros, nearCacheRecords, fieldCount);
    }

    @Override
    public String toString() {
        return "VarveOptions[" + (user == null ? "" : user + "@") + host + ":" + port + (tls == null ? "" : " by TLS")
                + (cluster ? " and its cluster" : "") + ", record " + PropertyReader.lower(record) + ", key "
                + PropertyReader.lower(key) + ", TTLs "
                + ttlsMillis + " ms " + PropertyReader.lower(ttlDistribution) + " by " + PropertyReader.lower(ttlMode)
                + ", index "
                + PropertyReader.lower(index) + ", seed " + seed
                + (pollMicros == 0 ? "" : ", polls for " + pollMicros + " µs")
                + (nearCacheRecords == 0 ? "" : ", near cache of " + nearCacheRecords + " records") + "]";
    }
}
