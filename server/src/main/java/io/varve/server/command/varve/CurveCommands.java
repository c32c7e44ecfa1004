package io.varve.server.command.varve;

import io.varve.memory.Cache;
import io.varve.memory.MemoryCurve;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;

import static io.varve.server.command.CommandFlag.LOADING;
import static io.varve.server.command.CommandFlag.STALE;

/** The share of reads that would miss with another maxmemory: VARVE.MRC. Immutable: static handlers. */
public final class CurveCommands {
    private static final int MOST_POINTS = 1024;
    private static final int USUAL_POINTS = 20;
    /** Of a ratio six decimals are told: more say nothing. */
    private static final double MILLION = 1e6;
    private static final String NOT_RECORDED = "ERR no accesses are recorded, CONFIG SET mrc-tracking yes begins with it";
    private static final String UNTRACKED = ": penalties are not tracked, CONFIG SET penalty-tracking yes begins with it";

    private CurveCommands() {}

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(CommandSpec.named("varve.mrc").arity(-1).group("server").since("0.1.0").looksAtAllKeys()
                .categories("@dangerous")
                .flags(LOADING, STALE).tips("nondeterministic_output")
                .complexity("O(N) in the keys that are followed, which are 64,000 at the most")
                .summary("Tells for sizes of memory which share of reads would miss.")
                .handler(CurveCommands::curve));
    }

    private static void curve(Invocation call) {
        int itemClass = Cache.ALL_CLASSES;
        int points = USUAL_POINTS;
        for (int i = 1; i < call.argumentCount(); i += 2) {
            boolean isClass = call.argumentIs(i, "CLASS");
            if (!isClass && !call.argumentIs(i, "POINTS") || i + 1 == call.argumentCount()) {
                call.syntaxError();
                return;
            }
            int last = call.cache().itemClasses() - 1;
            if (!(isClass
                    ? requireInRange(call, i + 1, "CLASS", 0, last,
                            call.cache().config().tracksPenalties() ? "" : UNTRACKED)
                    : requireInRange(call, i + 1, "POINTS", 1, MOST_POINTS, ""))) {
                return;
            }
            if (isClass) {
                itemClass = (int) call.longValue();
            } else {
                points = (int) call.longValue();
            }
        }
        MemoryCurve curve = call.cache().curve(itemClass);
        if (curve == null) {
            call.reply().error(NOT_RECORDED);
        } else {
            reply(call, curve, points);
        }
    }

    /** {@link Invocation#requireLong} that also refuses what is out of range: the handler just returns. */
    static boolean requireInRange(Invocation call, int argument, String name, long least, long most,
            String why) {
        if (!call.requireLong(argument)) {
            return false;
        }
        if (call.longValue() < least || call.longValue() > most) {
            call.reply().error("ERR " + name + " is out of range, allowed is "
                    + (least == most ? Long.toString(least) : least + " to " + most) + why);
            return false;
        }
        return true;
    }

    /** Pairs of a maxmemory and the share of reads that would miss there, evenly spaced up to where more makes no difference. */
    private static void reply(Invocation call, MemoryCurve curve, int points) {
        if (!curve.isKnown()) {
            call.reply().array(0);
            return;
        }
        call.reply().array(points);
        for (int i = 1; i <= points; i++) {
            double bytes = curve.largestBytes() * i / points;
            call.reply().array(2);
            call.reply().integer(Math.round(bytes));
            call.reply().doubleValue(Math.round(MILLION * curve.missRatio(bytes)) / MILLION);
        }
    }
}
