package io.varve.server.command.geo;

import java.math.BigDecimal;
import java.math.RoundingMode;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.sortedset.SortedSetAddCommands;
import io.varve.server.command.sortedset.SortedSetValue;
import io.varve.server.command.sortedset.SortedSets;
import io.varve.server.command.text.LongDouble;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.geo.GeoDistance;
import io.varve.server.geo.GeoHash;
import io.varve.server.resp.DoubleReader;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * Geo commands; a place is a member of a sorted set with its {@link GeoHash} as the score. Immutable: static handlers.
 *
 * @see GeoSearchCommands
 */
public final class GeoCommands {
    private static final int PERCENT_F_DECIMALS = 6;
    private static final double METRE = 1;
    private static final double KILOMETRE = 1000;
    private static final double FOOT = 0.3048;
    private static final double MILE = 1609.34;

    private GeoCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(geo("geoadd", -5, "3.2.0",
                "Adds members with their positions to a geospatial index, or updates their positions")
                .access("RW update")
                .flags(WRITE, DENYOOM).complexity("O(log(N)) for each member, where N is the size of the index")
                .handler(GeoCommands::add));
        table.add(geo("geodist", -4, "3.2.0", "Returns the distance between two members of a geospatial index")
                .access("RO access")
                .flags(READONLY).handler(GeoCommands::dist));
        table.add(geo("geohash", -2, "3.2.0", "Returns members of a geospatial index as geohash strings")
                .access("RO access").flags(READONLY)
                .complexity("O(1) for each member").handler(GeoCommands::hash));
        table.add(geo("geopos", -2, "3.2.0", "Returns the longitudes and latitudes of members of a geospatial index")
                .access("RO access")
                .flags(READONLY).complexity("O(1) for each member").handler(GeoCommands::pos));
        GeoSearchCommands.addTo(table);
    }

    static CommandBuilder geo(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).arity(arity).key(1).categories("@geo").group("geo").since(since)
                .summary(summary);
    }

    // --- add

    private static void add(CommandContext context) {
        int flags = 0;
        int first = 2;
        for (int flag = flag(context, first); flag != 0; flag = flag(context, first)) {
            flags |= flag;
            first++;
        }
        int arguments = context.argumentCount() - first;
        boolean both = (flags & SortedSetAddCommands.NX) != 0 && (flags & SortedSetAddCommands.XX) != 0;
        if (arguments == 0 || arguments % 3 != 0 || both) {
            context.syntaxError();
            return;
        }
        for (int i = first; i < context.argumentCount(); i += 3) {
            if (!requirePlace(context, i)) {
                return;
            }
        }
        SortedSets.of(context).addition().run(context, flags, first, 3, GeoCommands::scoreAt);
    }

    private static int flag(CommandContext context, int argument) {
        if (argument >= context.argumentCount()) {
            return 0;
        }
        return context.argumentIs(argument, "NX")
                ? SortedSetAddCommands.NX
                : context.argumentIs(argument, "XX")
                        ? SortedSetAddCommands.XX
                        : context.argumentIs(argument, "CH") ? SortedSetAddCommands.CH : 0;
    }

    private static double scoreAt(CommandContext context, int argument) {
        return GeoHash.encode(coordinate(context, argument), coordinate(context, argument + 1), GeoHash.MAX_STEPS);
    }

    /** The longitude or latitude in an argument that was validated before. */
    static double coordinate(CommandContext context, int argument) {
        return DoubleReader.parse(context.argumentAddress(argument), context.argumentLength(argument));
    }

    /** Whether two arguments are a valid longitude and latitude; replies the error if not. */
    static boolean requirePlace(CommandContext context, int argument) {
        if (!context.requireDouble(argument)) {
            return false;
        }
        double longitude = context.doubleValue();
        if (!context.requireDouble(argument + 1)) {
            return false;
        }
        double latitude = context.doubleValue();
        if (!GeoHash.isOnTheMap(longitude, latitude)) {
            context.reply().error("ERR invalid longitude,latitude pair " + sixDecimals(longitude) + ","
                    + sixDecimals(latitude));
            return false;
        }
        return true;
    }

    /** Formats like C's {@code %f}. */
    private static String sixDecimals(double value) {
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        String text = new BigDecimal(Math.abs(value)).setScale(PERCENT_F_DECIMALS, RoundingMode.HALF_EVEN)
                .toPlainString();
        return Double.doubleToRawLongBits(value) < 0 ? "-" + text : text;
    }

    // --- units

    /** The metres of the unit that an argument names; negative after an error was replied. */
    static double unit(CommandContext context, int argument) {
        if (context.argumentIs(argument, "M")) {
            return METRE;
        }
        if (context.argumentIs(argument, "KM")) {
            return KILOMETRE;
        }
        if (context.argumentIs(argument, "FT")) {
            return FOOT;
        }
        if (context.argumentIs(argument, "MI")) {
            return MILE;
        }
        context.reply().error("ERR unsupported unit provided. please use M, KM, FT, MI");
        return -1;
    }

    // --- read

    private static void dist(CommandContext context) {
        double unit = METRE;
        if (context.argumentCount() == 5) {
            unit = unit(context, 4);
            if (unit < 0) {
                return;
            }
        } else if (context.argumentCount() > 5) {
            context.syntaxError();
            return;
        }
        SortedSetValue set = SortedSets.of(context).set();
        if (set.open(context, context.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        if (!find(context, set, 2)) {
            context.reply().nil();
            return;
        }
        long from = GeoHash.bitsOf(set.score());
        if (!find(context, set, 3)) {
            context.reply().nil();
            return;
        }
        long to = GeoHash.bitsOf(set.score());
        context.reply().bulkFourDecimals(GeoDistance.metres(GeoHash.longitude(from), GeoHash.latitude(from),
                GeoHash.longitude(to), GeoHash.latitude(to)) / unit);
    }

    private static boolean find(CommandContext context, SortedSetValue set, int argument) {
        return set.find(context.argumentAddress(argument), context.argumentLength(argument));
    }

    private static void hash(CommandContext context) {
        SortedSetValue set = SortedSets.of(context).set();
        if (set.open(context, context.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        context.reply().array(context.argumentCount() - 2);
        for (int i = 2; i < context.argumentCount(); i++) {
            if (find(context, set, i)) {
                context.reply().bulkAscii(GeoHash.text(GeoHash.bitsOf(set.score())));
            } else {
                context.reply().nil();
            }
        }
    }

    private static void pos(CommandContext context) {
        SortedSetValue set = SortedSets.of(context).set();
        if (set.open(context, context.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        context.reply().array(context.argumentCount() - 2);
        for (int i = 2; i < context.argumentCount(); i++) {
            if (find(context, set, i)) {
                replyPlace(context.reply(), GeoHash.bitsOf(set.score()));
            } else {
                context.reply().nilArray();
            }
        }
    }

    /** Replies longitude and latitude, with at most 17 decimals. */
    static void replyPlace(ReplyWriter reply, long bits) {
        reply.array(2);
        reply.doubleText(seventeenDecimals(GeoHash.longitude(bits)));
        reply.doubleText(seventeenDecimals(GeoHash.latitude(bits)));
    }

    private static String seventeenDecimals(double value) {
        return new LongDouble(LongDouble.Kind.FINITE, new BigDecimal(value)).text();
    }
}
