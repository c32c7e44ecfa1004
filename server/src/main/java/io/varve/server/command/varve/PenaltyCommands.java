package io.varve.server.command.varve;

import io.varve.memory.CacheSession;
import io.varve.memory.ClassReport;
import io.varve.memory.PenaltyReport;
import io.varve.memory.item.Item;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.Invocation;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.LOADING;
import static io.varve.server.command.CommandFlag.NOSCRIPT;
import static io.varve.server.command.CommandFlag.STALE;
import static io.varve.server.command.CommandFlag.WRITE;

/** Classes of keys by what their misses cost, and hints to which class a key belongs: VARVE.CLASS. Immutable: static handlers. */
public final class PenaltyCommands {
    private static final String SINCE = "0.1.0";
    private static final int FIELDS = 9;
    /** Of a share six decimals are told, of a µs one: more say nothing. */
    private static final double SHARES = 1e6;
    private static final double MICROS = 10;
    private static final String NOT_TRACKED = "ERR penalties are not tracked, CONFIG SET penalty-tracking yes begins with it";
    private static final String NO_SUCH_KEY = "ERR no such key";

    private PenaltyCommands() {}

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(CommandSpec.named("varve.class").arity(-2).group("server").since(SINCE)
                .complexity("Depends on subcommand.").summary("Classes of keys by what their misses cost.")
                .subcommand(CommandSpec.named("set").arity(4).group("generic").since(SINCE).flags(WRITE, FAST).key(2)
                        .access("RW update").categories("@keyspace")
                        .summary("Puts a key into a class: a hint.").handler(PenaltyCommands::set))
                .subcommand(CommandSpec.named("default").arity(3).group("connection").since(SINCE)
                        .flags(NOSCRIPT, LOADING, STALE).categories("@connection")
                        .summary("Says into which class this connection's items are written.")
                        .handler(PenaltyCommands::writeInto))
                .subcommand(CommandSpec.named("list").arity(2).group("server").since(SINCE).flags(LOADING, STALE)
                        .looksAtAllKeys().categories("@dangerous").tips("nondeterministic_output")
                        .summary("Tells what misses of each class cost, and which memory it has.")
                        .handler(PenaltyCommands::list))
                .subcommand(HelpText.describe("server", SINCE)
                        .handler(call -> HelpText.reply(call.reply(), "VARVE.CLASS", "DEFAULT <class>|AUTO",
                                "    Have what this connection writes in <class>, or in that of what its misses cost.",
                                "LIST",
                                "    Return of each class what its misses cost, how it is used and which memory it has.",
                                "SET <key> <class>", "    Put <key> into <class>."))));
    }

    /** Leaves everything else of the key as it is: its clock, who watches it, the counts of hits and misses. */
    private static void set(Invocation call) {
        if (!requireTracked(call) || !requireClass(call, 3, "")) {
            return;
        }
        Item item = call.item();
        if (call.session().peek(call.key(2), item)) {
            call.session().penaltyClass(item, (int) call.longValue());
            call.reply().ok();
        } else {
            call.reply().error(NO_SUCH_KEY);
        }
    }

    private static void writeInto(Invocation call) {
        if (!requireTracked(call)) {
            return;
        }
        int penaltyClass = CacheSession.AUTOMATIC;
        if (!call.argumentIs(2, "AUTO")) {
            if (!requireClass(call, 2, " or AUTO")) {
                return;
            }
            penaltyClass = (int) call.longValue();
        }
        call.client().writesInto(penaltyClass);
        call.session().writesInto(penaltyClass);
        call.reply().ok();
    }

    private static boolean requireTracked(Invocation call) {
        if (call.cache().config().tracksPenalties()) {
            return true;
        }
        call.reply().error(NOT_TRACKED);
        return false;
    }

    private static boolean requireClass(Invocation call, int argument, String orElse) {
        return CurveCommands.requireInRange(call, argument, "CLASS", 0, call.cache().itemClasses() - 1L, orElse);
    }

    private static void list(Invocation call) {
        PenaltyReport report = call.cache().penalties();
        if (report == null) {
            call.reply().error(NOT_TRACKED);
            return;
        }
        call.reply().array(report.classes().size());
        for (ClassReport of : report.classes()) {
            tell(call.reply(), of);
        }
    }

    private static void tell(ReplyWriter reply, ClassReport of) {
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

    /** Rounded to parts of one; nil if it is not known. */
    private static void decimal(ReplyWriter reply, String name, double value, double parts) {
        reply.bulkAscii(name);
        if (Double.isNaN(value)) {
            reply.nil();
        } else {
            reply.doubleValue(Math.round(parts * value) / parts);
        }
    }
}
