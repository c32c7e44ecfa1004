package io.varve.server.command.introspection;

import java.util.List;

import io.varve.memory.report.CacheStats;
import io.varve.server.admin.MemoryFigures;
import io.varve.server.admin.MemoryReport;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.ServerState;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.spec.CommandFlag.READONLY;

/** MEMORY: memory usage. Immutable. */
public final class MemoryCommands {
    private static final String[] OF_EACH_SHARD = {"nondeterministic_output", "request_policy:all_shards",
            "response_policy:special"};
    private static final int PERCENT = 100;

    private final ServerState server;

    public MemoryCommands(ServerState server) {
        this.server = server;
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        table.add(CommandBuilder.named("memory").arity(-2).group("server").since("4.0.0")
                .complexity("Depends on subcommand.").summary("A container for memory diagnostics commands")
                .subcommand(
                        CommandBuilder.named("usage").arity(-3).group("server").since("4.0.0").flags(READONLY).key(2)
                                .access("RO")
                                .complexity("O(N) where N is the number of samples.")
                                .summary("Estimates the memory of a key")
                                .handler(MemoryCommands::usage))
                .subcommand(
                        report("stats", "Returns details about memory usage")
                                .tips(OF_EACH_SHARD)
                                .handler(this::stats))
                .subcommand(report("doctor", "Returns a memory problems report").tips(OF_EACH_SHARD)
                        .handler(context -> context.reply().verbatim("txt",
                                MemoryReport.diagnosis(server.telemetry().report().memory(),
                                        server.telemetry().connectedClients()))))
                .subcommand(report("purge", "Returns free memory to the operating system")
                        .tips("request_policy:all_shards", "response_policy:all_succeeded").handler(context -> {
                            server.cache().returnFreeMemorySoon();
                            context.reply().ok();
                        }))
                .subcommand(report("malloc-stats", "Returns the allocator statistics").tips(OF_EACH_SHARD)
                        .handler(context -> context.reply().verbatim("txt",
                                MemoryReport.ofAllocator(server.telemetry().report().memory()))))
                .subcommand(HelpText.describe("server", "4.0.0")
                        .handler(context -> HelpText.reply(context.reply(), "MEMORY", "DOCTOR",
                                "    Return memory problems reports.", "MALLOC-STATS",
                                "    Return internal statistics report from the memory allocator.", "PURGE",
                                "    Attempt to purge dirty pages for reclamation by the allocator.", "STATS",
                                "    Return information about the memory usage of the server.",
                                "USAGE <key> [SAMPLES <count>]",
                                "    Return memory in bytes used by <key> and its value."))));
    }

    private static CommandBuilder report(String name, String summary) {
        return CommandBuilder.named(name).arity(2).group("server").since("4.0.0").summary(summary);
    }

    private static void usage(CommandContext context) {
        for (int i = 3; i < context.argumentCount(); i += 2) {
            if (!context.argumentIs(i, "SAMPLES") || i + 1 >= context.argumentCount()) {
                context.syntaxError();
                return;
            }
            if (!context.requireLong(i + 1)) {
                return;
            }
            if (context.longValue() < 0) {
                context.syntaxError();
                return;
            }
        }
        // MEMORY USAGE does not count as a lookup, unlike OBJECT.
        if (context.session().peek(context.key(2), context.item())) {
            context.reply().integer(context.session().memoryUsage(context.item()));
        } else {
            context.reply().nil();
        }
    }

    // --- STATS

    private void stats(CommandContext context) {
        MemoryFigures figures = server.telemetry().report().memory();
        CacheStats stats = figures.stats();
        Pairs pairs = new Pairs(context.reply());
        pairs.add("peak.allocated", figures.peakBytes());
        pairs.add("total.allocated", figures.usedBytes());
        pairs.add("startup.allocated", figures.startupBytes());
        pairs.add("replication.backlog", figures.backlogBytes());
        pairs.add("clients.slaves", 0);
        pairs.add("clients.normal", figures.bufferBytes());
        pairs.add("cluster.links", 0);
        pairs.add("aof.buffer", figures.logBytes());
        pairs.add("lua.caches", 0);
        pairs.add("functions.caches", 0);
        databases(pairs, stats);
        pairs.add("overhead.total", figures.overheadBytes());
        pairs.add("keys.count", stats.items());
        pairs.add("keys.bytes-per-key", stats.items() == 0
                ? 0
                : Math.max(0, figures.usedBytes() - figures.startupBytes()) / stats.items());
        pairs.add("dataset.bytes", stats.datasetBytes());
        pairs.addRatio("dataset.percentage", PERCENT * figures.datasetPart());
        pairs.addRatio("peak.percentage", PERCENT * figures.peakPart());
        pairs.add("allocator.allocated", stats.liveBytes());
        pairs.add("allocator.active", figures.activeBytes());
        pairs.add("allocator.resident", stats.chargedBytes());
        pairs.addRatio("allocator-fragmentation.ratio", figures.fragmentationRatio());
        pairs.add("allocator-fragmentation.bytes", figures.fragmentationBytes());
        pairs.addRatio("allocator-rss.ratio", figures.reservedRatio());
        pairs.add("allocator-rss.bytes", stats.chargedBytes() - figures.activeBytes());
        pairs.addRatio("rss-overhead.ratio", figures.residentOverReserved());
        pairs.add("rss-overhead.bytes", figures.residentBytes() - stats.chargedBytes());
        pairs.addRatio("fragmentation", figures.residentOverUsed());
        pairs.add("fragmentation.bytes", figures.residentBytes() - figures.usedBytes());
        pairs.end();
    }

    /** Replies the index and expiry overhead of each database that holds keys. */
    private static void databases(Pairs pairs, CacheStats stats) {
        List<CacheStats.Database> databases = stats.databases();
        long expiring = stats.expiringItems();
        for (int i = 0; i < databases.size(); i++) {
            CacheStats.Database database = databases.get(i);
            if (database.items() > 0) {
                ReplyWriter reply = pairs.addMap("db." + i, 3);
                reply.bulkAscii("overhead.hashtable.main");
                reply.integer(database.indexBytes());
                reply.bulkAscii("overhead.hashtable.expires");
                // Entries of all databases share the same chunks, so each database gets its proportion.
                reply.integer(expiring == 0
                        ? 0
                        : Math.round((double) stats.expiryBytes() * database.expiringItems() / expiring));
                reply.bulkAscii("overhead.hashtable.slot-to-keys");
                reply.integer(0);
            }
        }
    }

    /** A reply map whose size is known only at its end. Confined to one reply. */
    private static final class Pairs {
        private final ReplyWriter reply;
        private final long mark;
        private int count;

        Pairs(ReplyWriter reply) {
            this.reply = reply;
            mark = reply.beginDeferred();
        }

        void add(String name, long value) {
            named(name).integer(value);
        }

        void addRatio(String name, double value) {
            named(name).doubleValue(value);
        }

        /** Adds a map, whose pairs the caller writes. */
        ReplyWriter addMap(String name, int pairs) {
            named(name).map(pairs);
            return reply;
        }

        private ReplyWriter named(String name) {
            count++;
            reply.bulkAscii(name);
            return reply;
        }

        void end() {
            reply.endMap(mark, count);
        }
    }
}
