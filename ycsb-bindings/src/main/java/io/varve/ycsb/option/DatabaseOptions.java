package io.varve.ycsb.option;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * The settings of one of the two databases behind the cache. Immutable.
 *
 * @param side which of the two
 * @param url the JDBC URL
 * @param user null for none, or if the URL contains it
 * @param password null for none, or if the URL contains it
 * @param delayNanos simulated network delay of each reply; 0 is none
 * @param penaltyClass penalty class of records that are read from it, if hints are sent
 */
public record DatabaseOptions(Side side, String url, @Nullable String user, @Nullable String password, long delayNanos,
        int penaltyClass) {

    /** The folder of H2's files; default {@value #DEFAULT_DIRECTORY}, in the working directory. */
    static final String DIRECTORY = "varve.db.dir";
    static final String DEFAULT_DIRECTORY = "varve-databases";
    /** Cache size for each of H2's files, in MiB; 0 means H2's choice, or the size at an earlier open of the file. */
    static final String CACHE = "varve.db.cache-mb";

    private static final long NANOS_PER_MICRO = 1000;
    private static final long MAX_CACHE_MIB = 1 << 20;
    private static final long KIB_PER_MIB = 1024;
    private static final long MAX_DELAY_MICROS = 60_000_000;
    private static final long LOCAL_DELAY_MICROS = 120;
    private static final long REMOTE_DELAY_MICROS = 1000;
    /** The ranges of the penalty paper (section 6.3.1), counted from 0, that contain the two delays. */
    private static final int LOCAL_CLASS = 3;
    private static final int REMOTE_CLASS = 6;
    private static final int MAX_CLASS = 15;

    /** The name of one of a side's own properties. */
    static String name(Side side, String setting) {
        return "varve.db." + PropertyReader.lower(side) + "." + setting;
    }

    public static String classOf(Side side) {
        return "varve.penalty.class." + PropertyReader.lower(side);
    }

    /**
     * @param load whether this is YCSB's load phase, which may create missing tables and is not delayed
     * @throws IllegalArgumentException with a line that names the property, its value and the allowed values
     */
    static DatabaseOptions read(PropertyReader reader, Side side, boolean load) {
        String user = reader.text(name(side, "user"), "");
        String password = reader.text(name(side, "password"), "");
        String url = reader.text(name(side, "url"), "");
        if (url.isEmpty()) {
            url = embedded(reader, side, load);
        } else if (!url.startsWith("jdbc:")) {
            throw PropertyReader.refused(name(side, "url"), shown(url), "a URL of JDBC, such as jdbc:h2:file:/data/"
                    + PropertyReader.lower(side) + " or jdbc:postgresql://host/database");
        }
        long delayMicros = reader.number(name(side, "delay-us"),
                side == Side.LOCAL ? LOCAL_DELAY_MICROS : REMOTE_DELAY_MICROS, 0, MAX_DELAY_MICROS);
        int penaltyClass = (int) reader.number(classOf(side), side == Side.LOCAL ? LOCAL_CLASS : REMOTE_CLASS, 0,
                MAX_CLASS);
        return new DatabaseOptions(side, url, user.isEmpty() ? null : user, password.isEmpty() ? null : password,
                load ? 0 : delayMicros * NANOS_PER_MICRO, penaltyClass);
    }

    private static String embedded(PropertyReader reader, Side side, boolean load) {
        String directory = reader.text(DIRECTORY, DEFAULT_DIRECTORY);
        if (directory.contains(";")) {
            throw PropertyReader.refused(DIRECTORY, directory, "a folder without ';' in its name");
        }
        String file = Path.of(directory).toAbsolutePath().normalize().resolve(PropertyReader.lower(side)).toString();
        // Without a trace file, which would grow with refused statements. Outside the load phase nothing may be
        // created.
        long cacheMib = reader.number(CACHE, 0, 0, MAX_CACHE_MIB);
        return "jdbc:h2:file:" + file + ";TRACE_LEVEL_FILE=0" + (load ? "" : ";IFEXISTS=TRUE")
                + (cacheMib > 0 ? ";CACHE_SIZE=" + cacheMib * KIB_PER_MIB : "");
    }

    /**
     * The property and the part of its value that may be shown: without credentials before and parameters after the
     * database's name.
     */
    public String shown() {
        return name(side, "url") + "=" + shown(url);
    }

    private static String shown(String url) {
        int end = url.length();
        for (char settings : new char[] {';', '?'}) {
            int at = url.indexOf(settings);
            end = at < 0 ? end : Math.min(end, at);
        }
        String database = url.substring(0, end);
        int user = database.lastIndexOf('@');
        int kind = database.indexOf(':', database.indexOf(':') + 1);
        return user < 0 || kind < 0 ? database : database.substring(0, kind + 1) + "..." + database.substring(user);
    }

    /** A driver's message, without the URL if it contains it. */
    public String without(String message) {
        return message.replace(url, shown(url));
    }

    @Override
    public String toString() {
        return shown() + " with a simulated delay of " + delayNanos / NANOS_PER_MICRO + " us";
    }
}
