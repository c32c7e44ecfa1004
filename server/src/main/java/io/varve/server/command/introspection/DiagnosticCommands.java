package io.varve.server.command.introspection;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.server.admin.latency.LatencyMonitor;
import io.varve.server.admin.latency.LatencyReport;
import io.varve.server.admin.latency.SlowLog;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.ServerState;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.ReplyWriter;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** SLOWLOG, LATENCY and MONITOR. Immutable. */
public final class DiagnosticCommands {
    private static final String[] ALL_NODES = {"request_policy:all_nodes", "response_policy:all_succeeded"};
    private static final String[] OF_EACH_NODE = {"nondeterministic_output", "request_policy:all_nodes",
            "response_policy:special"};
    private static final long DEFAULT_ENTRIES = 10;
    private static final long MILLIS_PER_SECOND = 1000;
    private static final long NANOS_PER_MICRO = 1000;
    private static final long MIN_BOUND_NANOS = 1 << 10;
    private static final long LAST_BOUND_NANOS = (1 << 30) - 1;

    private final ServerState server;

    public DiagnosticCommands(ServerState server) {
        this.server = server;
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        table.add(CommandBuilder.named("monitor").arity(1).group("server").flags(ADMIN, NOSCRIPT, LOADING, STALE)
                .summary("Listens to all commands that the server runs").handler(DiagnosticCommands::monitor));
        table.add(CommandBuilder.named("slowlog").arity(-2).group("server").since("2.2.12")
                .complexity("Depends on subcommand.").summary("A container for slow log commands")
                .subcommand(slowlog("get", -2, "Returns the entries of the slow log")
                        .tips("request_policy:all_nodes", "nondeterministic_output").handler(this::slowGet))
                .subcommand(slowlog("len", 2, "Returns the number of entries in the slow log")
                        .tips("request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output")
                        .handler(context -> context.reply().integer(server.telemetry().slowLog().size())))
                .subcommand(slowlog("reset", 2, "Clears the slow log").tips(ALL_NODES).handler(context -> {
                    server.telemetry().slowLog().reset();
                    context.reply().ok();
                })).subcommand(HelpText.describe("server", "6.2.0")
                        .handler(context -> HelpText.reply(context.reply(), "SLOWLOG", "GET [<count>]",
                                "    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
                                "    Entries are made of:",
                                "    id, timestamp, time in microseconds, arguments array, client IP and port,",
                                "    client name", "LEN", "    Return the length of the slowlog.", "RESET",
                                "    Reset the slowlog."))));
        table.add(CommandBuilder.named("latency").arity(-2).group("server").since("2.8.13")
                .complexity("Depends on subcommand.").summary("A container for latency diagnostics commands")
                .subcommand(latency("latest", 2, "Returns the latest latency spike of each event").tips(OF_EACH_NODE)
                        .handler(this::latest))
                .subcommand(latency("history", 3, "Returns the latency spikes of an event").tips(OF_EACH_NODE)
                        .handler(this::history))
                .subcommand(latency("reset", -2, "Resets the latency data of events")
                        .tips("request_policy:all_nodes", "response_policy:agg_sum").handler(this::reset))
                .subcommand(latency("histogram", -2, "Returns the latency distribution of commands").since("7.0.0")
                        .tips(OF_EACH_NODE)
                        .handler(this::histogram))
                .subcommand(latency("doctor", 2, "Returns a human-readable latency analysis report").tips(OF_EACH_NODE)
                        .handler(this::doctor))
                .subcommand(
                        latency("graph", 3, "Returns a graph of the latency spikes of an event").tips(OF_EACH_NODE)
                                .handler(this::graph))
                .subcommand(HelpText.describe("server", "2.8.13")
                        .handler(context -> HelpText.reply(context.reply(), "LATENCY", "DOCTOR",
                                "    Return a human readable latency analysis report.", "GRAPH <event>",
                                "    Return an ASCII latency graph for the <event> class.", "HISTORY <event>",
                                "    Return time-latency samples for the <event> class.", "LATEST",
                                "    Return the latest latency samples for all events.", "RESET [<event> ...]",
                                "    Reset latency data of one or more <event> classes.",
                                "    (default: reset all data for all event classes)", "HISTOGRAM [COMMAND ...]",
                                "    Return a cumulative distribution of commands' latencies in histogram format."))));
    }

    private static void monitor(CommandContext context) {
        if (context.isInTransaction()) {
            context.reply().error("ERR MONITOR isn't allowed for DENY BLOCKING client");
        } else if (!context.client().isMonitor()) {
            // As in Redis, a repeated MONITOR gets no reply at all.
            context.client().subscriptions().monitor();
            context.reply().ok();
        }
    }

    private static CommandBuilder slowlog(String name, int arity, String summary) {
        return CommandBuilder.named(name).arity(arity).group("server").since("2.2.12").flags(ADMIN, LOADING, STALE)
                .summary(summary);
    }

    private static CommandBuilder latency(String name, int arity, String summary) {
        return CommandBuilder.named(name).arity(arity).group("server").since("2.8.13")
                .flags(ADMIN, NOSCRIPT, LOADING, STALE).summary(summary);
    }

    private void slowGet(CommandContext context) {
        long count = DEFAULT_ENTRIES;
        if (context.argumentCount() > 3) {
            context.reply()
                    .error("ERR unknown subcommand or wrong number of arguments for '" + context.argumentString(1)
                            + "'. Try SLOWLOG HELP.");
            return;
        }
        if (context.argumentCount() == 3) {
            if (!context.isLong(2) || context.longValue() < -1) {
                context.reply().error("ERR count should be greater than or equal to -1");
                return;
            }
            count = context.longValue() == -1 ? Long.MAX_VALUE : context.longValue();
        }
        List<SlowLog.Entry> entries = server.telemetry().slowLog().latest(count);
        ReplyWriter reply = context.reply();
        reply.array(entries.size());
        for (SlowLog.Entry entry : entries) {
            reply.array(6);
            reply.integer(entry.id());
            reply.integer(entry.unixSeconds());
            reply.integer(entry.micros());
            reply.array(entry.arguments().size());
            entry.arguments().forEach(reply::bulk);
            reply.bulkText(entry.address());
            reply.bulkText(entry.clientName());
        }
    }

    private void latest(CommandContext context) {
        List<LatencyMonitor.Event> events = server.telemetry().latencies().events();
        context.reply().array(events.size());
        for (LatencyMonitor.Event event : events) {
            context.reply().array(4);
            context.reply().bulkAscii(event.name());
            context.reply().integer(event.latest().unixSeconds());
            context.reply().integer(event.latest().millis());
            context.reply().integer(event.maxMillis());
        }
    }

    private LatencyMonitor.@Nullable Event event(String name) {
        for (LatencyMonitor.Event event : server.telemetry().latencies().events()) {
            if (event.name().equals(name)) {
                return event;
            }
        }
        return null;
    }

    private void history(CommandContext context) {
        LatencyMonitor.Event event = event(context.argumentString(2));
        if (event == null) {
            context.reply().array(0);
            return;
        }
        context.reply().array(event.history().size());
        for (LatencyMonitor.Sample sample : event.history()) {
            context.reply().array(2);
            context.reply().integer(sample.unixSeconds());
            context.reply().integer(sample.millis());
        }
    }

    private void reset(CommandContext context) {
        if (context.argumentCount() == 2) {
            server.telemetry().hiccups().reset();
            context.reply().integer(server.telemetry().latencies().resetAll());
            return;
        }
        int count = 0;
        for (int i = 2; i < context.argumentCount(); i++) {
            count += server.telemetry().latencies().reset(context.argumentString(i)) ? 1 : 0;
        }
        context.reply().integer(count);
    }

    private void histogram(CommandContext context) {
        List<String> names = server.telemetry().commandNames();
        List<Integer> wanted = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            if (context.argumentCount() == 2 || isNamed(context, names.get(i))) {
                wanted.add(i);
            }
        }
        ReplyWriter reply = context.reply();
        long mark = reply.beginDeferred();
        int commands = 0;
        for (int i : wanted) {
            Histogram latencies = server.telemetry().report().latencies(i);
            if (latencies != null) {
                reply.bulkAscii(names.get(i));
                distribution(reply, latencies);
                commands++;
            }
        }
        reply.endMap(mark, commands);
    }

    private static boolean isNamed(CommandContext context, String name) {
        for (int i = 2; i < context.argumentCount(); i++) {
            String wanted = context.argumentString(i).toLowerCase(Locale.ROOT);
            if (name.equals(wanted) || name.startsWith(wanted + "|")) {
                return true;
            }
        }
        return false;
    }

    /**
     * Replies cumulative counts up to powers of two of a nanosecond, from about a microsecond on, rounded up to the
     * histogram's resolution. Omits bounds without a new count. Clients know these bounds from Redis.
     */
    public static void distribution(ReplyWriter reply, Histogram latencies) {
        reply.map(2);
        reply.bulkAscii("calls");
        reply.integer(latencies.getTotalCount());
        reply.bulkAscii("histogram_usec");
        long mark = reply.beginDeferred();
        int pairs = 0;
        long below = 0;
        for (long bound = MIN_BOUND_NANOS; below < latencies.getTotalCount(); bound <<= 1) {
            // The last bound ends at the longest latency that the histogram distinguishes.
            long nanos = Math.min(bound, LAST_BOUND_NANOS);
            long upTo = bound > LAST_BOUND_NANOS
                    ? latencies.getTotalCount()
                    : latencies.getCountBetweenValues(0, nanos);
            if (upTo > below) {
                reply.integer(latencies.highestEquivalentValue(nanos) / NANOS_PER_MICRO);
                reply.integer(upTo);
                pairs++;
                below = upTo;
            }
        }
        reply.endMap(mark, pairs);
    }

    private void doctor(CommandContext context) {
        ServerConfig config = server.config();
        context.reply().verbatim("txt", LatencyReport.diagnosis(server.telemetry().latencies().events(),
                config.latencyThresholdMillis(), config.slowlogMicros(), server.telemetry().hiccups().longestMicros(),
                context.now() / MILLIS_PER_SECOND));
    }

    private void graph(CommandContext context) {
        String name = context.argumentString(2);
        LatencyMonitor.Event event = event(name);
        if (event == null) {
            context.reply().error("ERR No samples available for event '" + name + "'");
        } else {
            context.reply().verbatim("txt", LatencyReport.graph(event, context.now() / MILLIS_PER_SECOND));
        }
    }
}
