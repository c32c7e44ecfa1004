package io.varve.ycsb.option;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/**
 * The settings of {@link io.varve.ycsb.CacheAsideClient}, read from YCSB's properties: those of {@link VarveOptions}
 * for the cache, and its own for the databases. Immutable.
 *
 * @param cache address of the cache and record format, always strings
 * @param members the servers of a divided cache, each with these options; empty if there is one
 * @param table the table of both databases
 * @param local the near database
 * @param remote the far one
 * @param hint whether the server is sent the penalty class of written records
 * @param scan the behaviour of a scan
 * @param fill when a read that fetched its record returns
 * @param stress when the far database gets slower
 * @param load whether this is YCSB's load phase
 */
public record CacheAsideOptions(VarveOptions cache, List<VarveOptions> members, TableShape table, DatabaseOptions local,
        DatabaseOptions remote,
        boolean hint, Scan scan, Fill fill, StressOptions stress, boolean load) {

    /** {@code false} (default) or {@code true}. */
    public static final String HINT = "varve.penalty.hint";
    /** {@code databases} (default) or {@code reads}. */
    static final String SCAN = "varve.scan";
    /** Host and port of each server among which the records are divided, comma-separated; default: none. */
    static final String MEMBERS = "varve.members";
    /** {@code answered} (default) or {@code sent}. */
    static final String FILL = "varve.fill";

    /** Set by YCSB according to its phase. */
    private static final String TRANSACTIONS = "dotransactions";
    private static final List<String> OWN = List.of(HINT, SCAN, FILL, MEMBERS, DatabaseOptions.DIRECTORY,
            DatabaseOptions.CACHE,
            TableShape.FIELD_TYPE,
            StressOptions.AFTER_OPERATIONS, StressOptions.AFTER_SECONDS, StressOptions.FACTOR);
    private static final List<String> OF_A_SIDE = List.of("url", "user", "password", "delay-us");

    /** The behaviour of a scan. */
    public enum Scan {
        /** It queries the range in both databases, and not the cache, which is unordered. */
        DATABASES,
        /** It is a read of its first record, through the cache. */
        READS
    }

    /** When a read that fetched its record returns. */
    public enum Fill {
        /** After the cache's reply that it has the record. */
        ANSWERED,
        /** After the record was sent to the cache, without a wait for the reply. */
        SENT
    }

    /** @throws IllegalArgumentException with a line that names the property, its value and the allowed values */
    public static CacheAsideOptions parse(Properties properties) {
        PropertyReader reader = new PropertyReader(properties, names());
        boolean load = properties.getProperty(TRANSACTIONS, "true").equals("false");
        VarveOptions cache = VarveOptions.read(reader, VarveOptions.RecordForm.STRING);
        if (cache.record() != VarveOptions.RecordForm.STRING) {
            throw PropertyReader.refused(VarveOptions.RECORD, PropertyReader.lower(cache.record()),
                    "string: records from a database are written with SET");
        }
        if (cache.index() != VarveOptions.Index.NONE) {
            throw PropertyReader.refused(VarveOptions.INDEX, PropertyReader.lower(cache.index()),
                    "none: the databases serve scans");
        }
        if (cache.nearCacheRecords() > 0) {
            throw PropertyReader.refused(VarveOptions.NEAR_CACHE, Long.toString(cache.nearCacheRecords()),
                    "0: this binding measures the cache on the server");
        }
        if (cache.cluster()) {
            refuseWithCluster(reader);
        }
        DatabaseOptions local = DatabaseOptions.read(reader, Side.LOCAL, load);
        DatabaseOptions remote = DatabaseOptions.read(reader, Side.REMOTE, load);
        if (local.url().equals(remote.url())) {
            throw new IllegalArgumentException(remote.shown() + ": expected a database other than that of "
                    + DatabaseOptions.name(Side.LOCAL, "url"));
        }
        return new CacheAsideOptions(cache, members(reader, cache),
                TableShape.read(reader, properties, cache.fieldCount()), local, remote,
                reader.flag(HINT, false), reader.choice(SCAN, Scan.DATABASES), reader.choice(FILL, Fill.ANSWERED),
                StressOptions.read(reader), load);
    }

    private static void refuseWithCluster(PropertyReader reader) {
        if (reader.flag(HINT, false)) {
            throw PropertyReader.refused(HINT, "true", "false with " + VarveOptions.CLUSTER
                    + "=true: a hint applies to one connection, and a cluster has one for each server");
        }
        String members = reader.text(MEMBERS, "");
        if (!members.isEmpty()) {
            throw PropertyReader.refused(MEMBERS, members,
                    "no value with " + VarveOptions.CLUSTER + "=true: the cluster names its members");
        }
    }

    private static List<VarveOptions> members(PropertyReader reader, VarveOptions cache) {
        String value = reader.text(MEMBERS, "");
        List<VarveOptions> members = new ArrayList<>();
        for (String address : value.isEmpty() ? new String[0] : value.split(",", -1)) {
            String[] parts = address.strip().split(":", -1);
            if (parts.length != 2 || parts[0].isEmpty() || !parts[1].matches("[1-9]\\d{0,4}")) {
                throw PropertyReader.refused(MEMBERS, value, "HOST:PORT, separated by commas");
            }
            members.add(cache.at(parts[0], Integer.parseInt(parts[1])));
        }
        return List.copyOf(members);
    }

    /** These options for one of the members. */
    public CacheAsideOptions of(VarveOptions member) {
        return new CacheAsideOptions(member, List.of(), table, local, remote, hint, scan, fill, stress, load);
    }

    public DatabaseOptions database(Side side) {
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
