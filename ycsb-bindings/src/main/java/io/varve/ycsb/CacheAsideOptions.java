package io.varve.ycsb;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/**
 * The settings of {@link CacheAsideClient}, read from YCSB's properties: those of {@link VarveOptions} for the cache, and its
 * own for what is behind it. Immutable.
 *
 * @param cache  where the cache is and how records lie in it, always as strings
 * @param table  of both databases
 * @param local  the near database
 * @param remote the far one
 * @param hint   whether the server is told the class of what is written to it
 * @param scan   what a scan does
 * @param fill   when a read that had to fetch its record returns
 * @param stress when the far one gets slower
 * @param load   whether this is YCSB's load phase
 */
record CacheAsideOptions(VarveOptions cache, TableShape table, DatabaseOptions local, DatabaseOptions remote,
        boolean hint, Scan scan, Fill fill, StressOptions stress, boolean load) {

    /** {@code false} (default) or {@code true}. */
    static final String HINT = "varve.penalty.hint";
    /** {@code databases} (default) or {@code reads}. */
    static final String SCAN = "varve.scan";
    /** {@code answered} (default) or {@code sent}. */
    static final String FILL = "varve.fill";

    /** Which YCSB sets, by the phase it was started for. */
    private static final String TRANSACTIONS = "dotransactions";
    private static final List<String> OWN = List.of(HINT, SCAN, FILL, DatabaseOptions.DIRECTORY, DatabaseOptions.CACHE,
            TableShape.FIELD_TYPE,
            StressOptions.AFTER_OPERATIONS, StressOptions.AFTER_SECONDS, StressOptions.FACTOR);
    private static final List<String> OF_A_SIDE = List.of("url", "user", "password", "delay-us");

    /** What a scan does. */
    enum Scan {
        /** Both databases are asked for the range; the cache, which knows no order, is not. */
        DATABASES,
        /** It is a read of its first record, through the cache. */
        READS
    }

    /** When a read that had to fetch its record returns. */
    enum Fill {
        /** The cache has answered that it has the record. */
        ANSWERED,
        /** The record is on its way to the cache: who reads does not wait for that. */
        SENT
    }

    /** @throws IllegalArgumentException with a line that names the property, its value and what is allowed */
    static CacheAsideOptions parse(Properties properties) {
        PropertyReader reader = new PropertyReader(properties, names());
        boolean load = properties.getProperty(TRANSACTIONS, "true").equals("false");
        VarveOptions cache = VarveOptions.read(reader, VarveOptions.RecordForm.STRING);
        if (cache.record() != VarveOptions.RecordForm.STRING) {
            throw PropertyReader.refused(VarveOptions.RECORD, PropertyReader.lower(cache.record()),
                    "string: what is read from a database is SET");
        }
        if (cache.index() != VarveOptions.Index.NONE) {
            throw PropertyReader.refused(VarveOptions.INDEX, PropertyReader.lower(cache.index()),
                    "none: scans are served by the databases");
        }
        DatabaseOptions local = DatabaseOptions.read(reader, Side.LOCAL, load);
        DatabaseOptions remote = DatabaseOptions.read(reader, Side.REMOTE, load);
        if (local.url().equals(remote.url())) {
            throw new IllegalArgumentException(remote.shown() + ": allowed is another database than that of "
                    + DatabaseOptions.name(Side.LOCAL, "url"));
        }
        return new CacheAsideOptions(cache, TableShape.read(reader, properties, cache.fieldCount()), local, remote,
                reader.flag(HINT, false), reader.choice(SCAN, Scan.DATABASES), reader.choice(FILL, Fill.ANSWERED),
                StressOptions.read(reader), load);
    }

    DatabaseOptions database(Side side) {
        return side == Side.LOCAL ? local : remote;
    }

    private static List<String> names() {
        List<String> names = new ArrayList<>(VarveOptions.NAMES);
        names.addAll(OWN);
        for (Side side : Side.values()) {
            names.add(DatabaseOptions.classOf(side));
            OF_A_SIDE.forEach(setting -> names.add(DatabaseOptions.name(side, setting)));
        }
        return names;
    }
}
