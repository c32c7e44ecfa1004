package io.varve.server.command.varve;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.report.ClassReport;
import io.varve.memory.report.PenaltyReport;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.STALE;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * VARVE.CLASS: classes of keys by the cost of their misses, and hints that assign keys to classes. Immutable: static
 * handlers.
 */
public final class PenaltyCommands {
    private static final String SINCE = "0.1.0";
    private static final int FIELDS = 9;
    /** Scale of replied shares (six decimals) and microseconds (one decimal); more are not significant. */
    private static final double SHARES = 1e6;
    private static final double MICROS = 10;
    private static final String NOT_TRACKED = "ERR penalties are not tracked: enable tracking with CONFIG SET"
            + " penalty-tracking yes";
    private static final String NO_SUCH_KEY = "ERR no such key";

    private PenaltyCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("varve.class").arity(-2).group("server").since(SINCE)
                .complexity("Depends on subcommand.").summary("A container for penalty class commands")
                .subcommand(CommandBuilder.named("set").arity(4).group("generic").since(SINCE).flags(WRITE, FAST).key(2)
                        .access("RW update").categories("@keyspace")
                        .summary("Sets the penalty class of a key as a hint").handler(PenaltyCommands::set))
                .subcommand(CommandBuilder.named("default").arity(3).group("connection").since(SINCE)
                        .flags(NOSCRIPT, LOADING, STALE).categories("@connection")
                        .summary("Sets the penalty class of the items that this connection writes")
                        .handler(PenaltyCommands::writeInto))
                .subcommand(CommandBuilder.named("list").arity(2).group("server").since(SINCE).flags(LOADING, STALE)
                        .categories("@dangerous").tips("nondeterministic_output")
                        .summary("Returns the miss penalty, use and memory of each class")
                        .handler(PenaltyCommands::list))
                .subcommand(HelpText.describe("server", SINCE)
                        .handler(context -> HelpText.reply(context.reply(), "VARVE.CLASS", "DEFAULT <class>|AUTO",
                                "    Write this connection's items to <class>, or with AUTO to the class of their"
                                        + " measured penalty.",
                                "LIST",
                                "    Return the miss penalty, use and memory of each class.",
                                "SET <key> <class>", "    Set the penalty class of <key>."))));
    }

    /** Changes only the class: access recency, watches, and the hit and miss counts stay the same. */
    private static void set(CommandContext context) {
        if (!requireTracked(context) || !requireClass(context, 3, "")) {
            return;
        }
        Item item = context.item();
        if (context.session().peek(context.key(2), item)) {
            context.session().penaltyClass(item, (int) context.longValue());
            context.reply().ok();
        } else {
            context.reply().error(NO_SUCH_KEY);
        }
    }

    private static void writeInto(CommandContext context) {
        if (!requireTracked(context)) {
            return;
        }
        int penaltyClass = CacheSession.AUTOMATIC;
        if (!context.argumentIs(2, "AUTO")) {
            if (!requireClass(context, 2, " or AUTO")) {
                return;
            }
            penaltyClass = (int) context.longValue();
        }
        context.client().writesInto(penaltyClass);
        context.session().writesInto(penaltyClass);
        context.reply().ok();
    }

    private static boolean requireTracked(CommandContext context) {
        if (context.cache().config().tracksPenalties()) {
            return true;
        }
        context.reply().error(NOT_TRACKED);
        return false;
    }

    private static boolean requireClass(CommandContext context, int argument, String orElse) {
        return CurveCommands.requireInRange(context, argument, "CLASS", 0, context.cache().itemClasses() - 1L, orElse);
    }

    private static void list(CommandContext context) {
        PenaltyReport report = context.cache().penalties();
        if (report == null) {
            context.reply().error(NOT_TRACKED);
            return;
        }
        context.reply().array(report.classes().size());
        for (ClassReport of : report.classes()) {
            replyClass(context.reply(), of);
        }
    }

    private static void replyClass(ReplyWriter reply, ClassReport of) {
        reply.map(FIELDS);
        integer(reply, "class", of.penaltyClass());
        reply.bulkAscii("range");
        reply.bulkText(of.range());
        decimal(reply, "penalty-us", of.penaltyMicros(), MICROS);
        integer(reply, "accesses", of.reads() + of.writes());
        integer(reply, "reads", of.reads());
        integer(reply, "misses", of.misses());
        integer(reply, "bytes", of.bytes());
        decimal(reply, "share", of.share(), SHARES);
        decimal(reply, "suggested-share", of.suggestedShare(), SHARES);
    }

    private static void integer(ReplyWriter reply, String name, long value) {
        reply.bulkAscii(name);
        reply.integer(value);
    }

    /** Replies a value rounded to a multiple of 1/{@code parts}; nil if it is not known. */
    private static void decimal(ReplyWriter reply, String name, double value, double parts) {
        reply.bulkAscii(name);
        if (Double.isNaN(value)) {
            reply.nil();
        } else {
            reply.doubleValue(Math.round(parts * value) / parts);
        }
    }
}
