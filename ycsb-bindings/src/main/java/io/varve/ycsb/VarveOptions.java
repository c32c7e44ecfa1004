package io.varve.ycsb;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The binding's settings, read from YCSB's properties; every {@code varve.} property that is misspelt or out of range is
 * refused by name. Immutable.
 *
 * @param host where the server is
 * @param port its port, 1 to 65535
 * @param password sent with AUTH, or null for none
 * @param record how a YCSB record is stored
 * @param key how a YCSB key is written
 * @param ttlsMillis the TTLs to draw from, in the order given; empty means that records get none
 * @param ttlDistribution how they are drawn
 * @param ttlMode how a TTL travels
 * @param index whether inserts and deletes are also written to the stock binding's sorted set
 * @param seed of the TTLs' random streams
 * @param fieldCount how many fields a whole record has: the property of that name of YCSB's core workload
 */
public record VarveOptions(String host, int port, @Nullable String password, RecordForm record, KeyCoding key,
        List<Long> ttlsMillis, TtlDistribution ttlDistribution, TtlMode ttlMode, Index index, long seed,
        int fieldCount) {

    /** Default {@code localhost}. */
    public static final String HOST = "varve.host";
    /** Default 6379. */
    public static final String PORT = "varve.port";
    /** Default: none. */
    public static final String PASSWORD = "varve.password";
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

    private static final String FIELD_COUNT = "fieldcount";
    private static final Set<String> NAMES = new TreeSet<>(
            Set.of(HOST, PORT, PASSWORD, RECORD, KEY, TTLS, TTL_DISTRIBUTION, TTL_MODE, INDEX, SEED));
    private static final double MILLIS_PER_SECOND = 1000;
    private static final double MAX_TTL_SECONDS = 1e9;

    /** How a YCSB record is stored. */
    public enum RecordForm {
        /** A hash with one field for each of the record's. */
        HASH,
        /** One string that holds all fields (see {@link PackedRecord}). */
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

    /** How a TTL travels. */
    public enum TtlMode {
        /** EXPIRE after the write, in the same pipeline: what the bucket-expiry paper (section 4.2) added to YCSB. */
        EXPIRE,
        /** SET with EX, one command; string records only. */
        EX
    }

    /** What is kept beside the records so that scans can be served. */
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
     * @return the settings, defaults filled in
     * @throws IllegalArgumentException with a line that names the property, its value and what is allowed
     */
    public static VarveOptions parse(Properties properties) {
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith("varve.") && !NAMES.contains(name)) {
                throw new IllegalArgumentException("unknown property " + name + "="
                        + properties.getProperty(name) + ": allowed are " + String.join(", ", NAMES));
            }
        }
        RecordForm record = choice(properties, RECORD, RecordForm.HASH);
        TtlMode ttlMode = choice(properties, TTL_MODE, TtlMode.EXPIRE);
        if (ttlMode == TtlMode.EX && record != RecordForm.STRING) {
            throw new IllegalArgumentException(TTL_MODE + "=ex is allowed with " + RECORD
                    + "=string only: no one command writes a hash and its TTL; with " + RECORD + "=hash use "
                    + TTL_MODE + "=expire");
        }
        String password = text(properties, PASSWORD, "");
        return new VarveOptions(text(properties, HOST, "localhost"),
                (int) number(properties, PORT, 6379, 1, 65535), password.isEmpty() ? null : password, record,
                choice(properties, KEY, KeyCoding.YCSB), ttls(properties),
                choice(properties, TTL_DISTRIBUTION, TtlDistribution.UNIFORM), ttlMode,
                choice(properties, INDEX, Index.NONE),
                number(properties, SEED, 1, Long.MIN_VALUE, Long.MAX_VALUE),
                (int) number(properties, FIELD_COUNT, 10, 1, Integer.MAX_VALUE));
    }

    private static String text(Properties properties, String name, String orElse) {
        String value = properties.getProperty(name, orElse).trim();
        return value.isEmpty() ? orElse : value;
    }

    private static <E extends Enum<E>> E choice(Properties properties, String name, E orElse) {
        String value = text(properties, name, lower(orElse));
        E[] constants = orElse.getDeclaringClass().getEnumConstants();
        for (E constant : constants) {
            if (lower(constant).equals(value.toLowerCase(Locale.ROOT))) {
                return constant;
            }
        }
        throw refused(name, value,
                Arrays.stream(constants).map(VarveOptions::lower).collect(Collectors.joining(" or ")));
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private static long number(Properties properties, String name, long orElse, long min, long max) {
        String value = text(properties, name, Long.toString(orElse));
        try {
            long number = Long.parseLong(value);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw refused(name, value, "a whole number from " + min + " to " + max, e);
        }
        throw refused(name, value, "a whole number from " + min + " to " + max);
    }

    private static List<Long> ttls(Properties properties) {
        String value = text(properties, TTLS, "");
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
                throw refused(TTLS, value, allowed, e);
            }
            // A NaN fails the comparison too.
            if (!(seconds * MILLIS_PER_SECOND >= 1 && seconds <= MAX_TTL_SECONDS)) {
                throw refused(TTLS, value, allowed);
            }
            millis.add(Math.round(seconds * MILLIS_PER_SECOND));
        }
        return List.copyOf(millis);
    }

    private static IllegalArgumentException refused(String name, String value, String allowed) {
        return new IllegalArgumentException(name + "=" + value + ": allowed is " + allowed);
    }

    private static IllegalArgumentException refused(String name, String value, String allowed, Exception cause) {
        return new IllegalArgumentException(name + "=" + value + ": allowed is " + allowed, cause);
    }

    @Override
    public String toString() {
        return "VarveOptions[" + host + ":" + port + ", record " + lower(record) + ", key " + lower(key) + ", TTLs "
                + ttlsMillis + " ms " + lower(ttlDistribution) + " by " + lower(ttlMode) + ", index "
                + lower(index) + ", seed " + seed + "]";
    }
}
