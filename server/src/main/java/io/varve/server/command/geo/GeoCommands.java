package io.varve.server.command.geo;

import java.math.BigDecimal;
import java.math.RoundingMode;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.sortedset.SortedSetAddCommands;
import io.varve.server.command.sortedset.SortedSetValue;
import io.varve.server.command.sortedset.SortedSets;
import io.varve.server.command.text.LongDouble;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.geo.GeoDistance;
import io.varve.server.geo.GeoHash;
import io.varve.server.resp.DoubleReader;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;

/**
 * Commands on places, which are members of a sorted set with their {@link GeoHash} for a score. Immutable: static handlers.
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

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(geo("geoadd", -5, "3.2.0", "Adds places to a sorted set, or moves them").access("RW update")
                .flags(WRITE, DENYOOM).complexity("O(log(N)) for each place").handler(GeoCommands::add));
        table.add(geo("geodist", -4, "3.2.0", "Answers how far two places are from each other").access("RO access")
                .flags(READONLY).handler(GeoCommands::dist));
        table.add(geo("geohash", -2, "3.2.0", "Answers the geohashes of places").access("RO access").flags(READONLY)
                .complexity("O(1) for each place").handler(GeoCommands::hash));
        table.add(geo("geopos", -2, "3.2.0", "Answers the longitudes and latitudes of places").access("RO access")
                .flags(READONLY).complexity("O(1) for each place").handler(GeoCommands::pos));
        GeoSearchCommands.addTo(table);
    }

    static CommandBuilder geo(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).key(1).categories("@geo").group("geo").since(since)
                .summary(summary);
    }

    // --- add

    private static void add(Invocation call) {
        int flags = 0;
        int first = 2;
        for (int flag = flag(call, first); flag != 0; flag = flag(call, first)) {
            flags |= flag;
            first++;
        }
        int arguments = call.argumentCount() - first;
        boolean both = (flags & SortedSetAddCommands.NX) != 0 && (flags & SortedSetAddCommands.XX) != 0;
        if (arguments == 0 || arguments % 3 != 0 || both) {
            call.syntaxError();
            return;
        }
        for (int i = first; i < call.argumentCount(); i += 3) {
            if (!requirePlace(call, i)) {
                return;
            }
        }
        SortedSets.of(call).addition().run(call, flags, first, 3, GeoCommands::scoreAt);
    }

    private static int flag(Invocation call, int argument) {
        if (argument >= call.argumentCount()) {
            return 0;
        }
        return call.argumentIs(argument, "NX")
                ? SortedSetAddCommands.NX
                : call.argumentIs(argument, "XX")
                        ? SortedSetAddCommands.XX
                        : call.argumentIs(argument, "CH") ? SortedSetAddCommands.CH : 0;
    }

    private static double scoreAt(Invocation call, int argument) {
        return GeoHash.encode(coordinate(call, argument), coordinate(call, argument + 1), GeoHash.MOST_STEPS);
    }

    /** The longitude or latitude in an argument that is known to be one. */
    static double coordinate(Invocation call, int argument) {
        return DoubleReader.parse(call.argumentAddress(argument), call.argumentLength(argument));
    }

    /** Whether two arguments are the longitude and the latitude of a place on the map; replies the error if not. */
    static boolean requirePlace(Invocation call, int argument) {
        if (!call.requireDouble(argument)) {
            return false;
        }
        double longitude = call.doubleValue();
        if (!call.requireDouble(argument + 1)) {
            return false;
        }
        double latitude = call.doubleValue();
        if (!GeoHash.isOnTheMap(longitude, latitude)) {
            call.reply().error("ERR invalid longitude,latitude pair " + sixDecimals(longitude) + ","
                    + sixDecimals(latitude));
            return false;
        }
        return true;
    }

    /** As C's {@code %f}. */
    private static String sixDecimals(double value) {
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        String text = new BigDecimal(Math.abs(value)).setScale(PERCENT_F_DECIMALS, RoundingMode.HALF_EVEN)
                .toPlainString();
        return Double.doubleToRawLongBits(value) < 0 ? "-" + text : text;
    }

    // --- units

    /** Metres of the unit that an argument names; negative after an error was replied. */
    static double unit(Invocation call, int argument) {
        if (call.argumentIs(argument, "M")) {
            return METRE;
        }
        if (call.argumentIs(argument, "KM")) {
            return KILOMETRE;
        }
        if (call.argumentIs(argument, "FT")) {
            return FOOT;
        }
        if (call.argumentIs(argument, "MI")) {
            return MILE;
        }
        call.reply().error("ERR unsupported unit provided. please use M, KM, FT, MI");
        return -1;
    }

    // --- look

    private static void dist(Invocation call) {
        double unit = METRE;
        if (call.argumentCount() == 5) {
            unit = unit(call, 4);
            if (unit < 0) {
                return;
            }
        } else if (call.argumentCount() > 5) {
            call.syntaxError();
            return;
        }
        SortedSetValue set = SortedSets.of(call).set();
        if (set.open(call, call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        if (!find(call, set, 2)) {
            call.reply().nil();
            return;
        }
        long from = GeoHash.bitsOf(set.score());
        if (!find(call, set, 3)) {
            call.reply().nil();
            return;
        }
        long to = GeoHash.bitsOf(set.score());
        call.reply().bulkFourDecimals(GeoDistance.metres(GeoHash.longitude(from), GeoHash.latitude(from),
                GeoHash.longitude(to), GeoHash.latitude(to)) / unit);
    }

    private static boolean find(Invocation call, SortedSetValue set, int argument) {
        return set.find(call.argumentAddress(argument), call.argumentLength(argument));
    }

    private static void hash(Invocation call) {
        SortedSetValue set = SortedSets.of(call).set();
        if (set.open(call, call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        call.reply().array(call.argumentCount() - 2);
        for (int i = 2; i < call.argumentCount(); i++) {
            if (find(call, set, i)) {
                call.reply().bulkAscii(GeoHash.text(GeoHash.bitsOf(set.score())));
            } else {
                call.reply().nil();
            }
        }
    }

    private static void pos(Invocation call) {
        SortedSetValue set = SortedSets.of(call).set();
        if (set.open(call, call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        call.reply().array(call.argumentCount() - 2);
        for (int i = 2; i < call.argumentCount(); i++) {
            if (find(call, set, i)) {
                replyPlace(call.reply(), GeoHash.bitsOf(set.score()));
            } else {
                call.reply().nilArray();
            }
        }
    }

    /** Replies longitude and latitude, with 17 decimals at most. */
    static void replyPlace(ReplyWriter reply, long bits) {
        reply.array(2);
        reply.doubleText(seventeenDecimals(GeoHash.longitude(bits)));
        reply.doubleText(seventeenDecimals(GeoHash.latitude(bits)));
    }

    private static String seventeenDecimals(double value) {
        return new LongDouble(LongDouble.Kind.FINITE, new BigDecimal(value)).text();
    }
}
