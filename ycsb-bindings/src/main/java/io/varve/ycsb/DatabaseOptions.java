package io.varve.ycsb;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * One of the two databases behind the cache. Immutable.
 *
 * @param side         which of the two
 * @param url          of JDBC
 * @param user         null for none, or where the URL says it
 * @param password     null for none, or where the URL says it
 * @param delayNanos   by which every answer of it is held back, a simulated network; 0 is none
 * @param penaltyClass of what is read from it, where hints are sent
 */
record DatabaseOptions(Side side, String url, @Nullable String user, @Nullable String password, long delayNanos,
        int penaltyClass) {

    /** Where H2's files are; default {@value #DEFAULT_DIRECTORY}, in the working directory. */
    static final String DIRECTORY = "varve.db.dir";
    static final String DEFAULT_DIRECTORY = "varve-databases";
    /** How much of each of H2's files is kept in memory, in MiB; 0 is what H2 chooses, or what a file was opened with before. */
    static final String CACHE = "varve.db.cache-mb";

    private static final long NANOS_PER_MICRO = 1000;
    private static final long MAX_CACHE_MIB = 1 << 20;
    private static final long KIB_PER_MIB = 1024;
    private static final long MAX_DELAY_MICROS = 60_000_000;
    private static final long LOCAL_DELAY_MICROS = 120;
    private static final long REMOTE_DELAY_MICROS = 1000;
    /** Of the penalty paper's ranges (section 6.3.1), counted from 0, those that the two delays are in. */
    private static final int LOCAL_CLASS = 3;
    private static final int REMOTE_CLASS = 6;
    private static final int MAX_CLASS = 15;

    /** The name of one of a side's own properties. */
    static String name(Side side, String setting) {
        return "varve.db." + PropertyReader.lower(side) + "." + setting;
    }

    static String classOf(Side side) {
        return "varve.penalty.class." + PropertyReader.lower(side);
    }

    /**
     * @param load whether this is YCSB's load phase, which may make what is not there and is not delayed
     * @throws IllegalArgumentException with a line that names the property, its value and what is allowed
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
        // No file beside the database that grows with what is refused. Without a load there is nothing to be made.
        long cacheMib = reader.number(CACHE, 0, 0, MAX_CACHE_MIB);
        return "jdbc:h2:file:" + file + ";TRACE_LEVEL_FILE=0" + (load ? "" : ";IFEXISTS=TRUE")
                + (cacheMib > 0 ? ";CACHE_SIZE=" + cacheMib * KIB_PER_MIB : "");
    }

    /** The property and what may be shown of its value: neither what follows the database's name nor who is in front of it. */
    String shown() {
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

    /** What a driver says, without the URL if it repeats it. */
    String without(String message) {
        return message.replace(url, shown(url));
    }

    @Override
    public String toString() {
        return shown() + " with a simulated delay of " + delayNanos / NANOS_PER_MICRO + " us";
    }
}
