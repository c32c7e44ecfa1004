package io.varve.server.command.varve;

import io.varve.memory.report.MemoryCurve;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;

import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.STALE;

/**
 * VARVE.MRC: the miss ratio curve, as the miss ratio of reads for other values of maxmemory. Immutable: static
 * handlers.
 */
public final class CurveCommands {
    private static final int MAX_POINTS = 1024;
    private static final int USUAL_POINTS = 20;
    /** Ratios are replied with six decimals; more are not significant. */
    private static final double MILLION = 1e6;
    private static final String NOT_RECORDED = "ERR no accesses are recorded: enable recording with CONFIG SET"
            + " mrc-tracking yes";
    private static final String UNTRACKED = ": penalties are not tracked: enable tracking with CONFIG SET"
            + " penalty-tracking yes";

    private CurveCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("varve.mrc").arity(-1).group("server").since("0.1.0")
                .categories("@dangerous")
                .flags(LOADING, STALE).tips("nondeterministic_output")
                .complexity("O(N) where N is the number of followed keys, at most 64,000")
                .summary("Estimates the miss ratio for several memory sizes")
                .handler(CurveCommands::curve));
    }

    private static void curve(CommandContext context) {
        int itemClass = MemoryCurve.ALL_CLASSES;
        int points = USUAL_POINTS;
        for (int i = 1; i < context.argumentCount(); i += 2) {
            boolean isClass = context.argumentIs(i, "CLASS");
            if (!isClass && !context.argumentIs(i, "POINTS") || i + 1 == context.argumentCount()) {
                context.syntaxError();
                return;
            }
            int last = context.cache().itemClasses() - 1;
            if (!(isClass
                    ? requireInRange(context, i + 1, "CLASS", 0, last,
                            context.cache().config().tracksPenalties() ? "" : UNTRACKED)
                    : requireInRange(context, i + 1, "POINTS", 1, MAX_POINTS, ""))) {
                return;
            }
            if (isClass) {
                itemClass = (int) context.longValue();
            } else {
                points = (int) context.longValue();
            }
        }
        MemoryCurve curve = context.cache().curve(itemClass);
        if (curve == null) {
            context.reply().error(NOT_RECORDED);
        } else {
            reply(context, curve, points);
        }
    }

    /** Calls {@link CommandContext#requireLong} and also refuses a value out of range: the handler just returns. */
    static boolean requireInRange(CommandContext context, int argument, String name, long min, long max,
            String why) {
        if (!context.requireLong(argument)) {
            return false;
        }
        if (context.longValue() < min || context.longValue() > max) {
            context.reply().error("ERR " + name + " is out of range, expected "
                    + (min == max ? Long.toString(min) : min + " to " + max) + why);
            return false;
        }
        return true;
    }

    /**
     * Replies pairs of a maxmemory and its miss ratio, evenly spaced up to the size where more memory makes no
     * difference.
     */
    private static void reply(CommandContext context, MemoryCurve curve, int points) {
        if (!curve.isKnown()) {
            context.reply().array(0);
            return;
        }
        context.reply().array(points);
        for (int i = 1; i <= points; i++) {
            double bytes = curve.largestBytes() * i / points;
            context.reply().array(2);
            context.reply().integer(Math.round(bytes));
            context.reply().doubleValue(Math.round(MILLION * curve.missRatio(bytes)) / MILLION);
        }
    }
}
