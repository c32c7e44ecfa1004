package io.varve.server.command.introspection;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.server.admin.LatencyMonitor;
import io.varve.server.admin.LatencyReport;
import io.varve.server.admin.SlowLog;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.Invocation;
import io.varve.server.command.ServerContext;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.ReplyWriter;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.CommandFlag.ADMIN;
import static io.varve.server.command.CommandFlag.LOADING;
import static io.varve.server.command.CommandFlag.NOSCRIPT;
import static io.varve.server.command.CommandFlag.STALE;

/** SLOWLOG, LATENCY and MONITOR. Immutable. */
public final class ObservationCommands {
    private static final String[] ALL_NODES = {"request_policy:all_nodes", "response_policy:all_succeeded"};
    private static final String[] OF_EACH_NODE = {"nondeterministic_output", "request_policy:all_nodes",
            "response_policy:special"};
    private static final long DEFAULT_ENTRIES = 10;
    private static final long MILLIS_PER_SECOND = 1000;
    private static final long NANOS_PER_MICRO = 1000;
    private static final long LEAST_BOUND_NANOS = 1 << 10;
    private static final long LAST_BOUND_NANOS = (1 << 30) - 1;

    private final ServerContext server;

    public ObservationCommands(ServerContext server) {
        this.server = server;
    }

    /** Adds the family. */
    public void register(CommandTable.Builder table) {
        table.add(CommandSpec.named("monitor").arity(1).group("server").flags(ADMIN, NOSCRIPT, LOADING, STALE)
                .summary("Shows every command that is executed, as it is.").handler(ObservationCommands::monitor));
        table.add(CommandSpec.named("slowlog").arity(-2).group("server").since("2.2.12")
                .complexity("Depends on subcommand.").summary("The commands that took long.")
                .subcommand(slowlog("get", -2, "The latest slow commands.")
                        .tips("request_policy:all_nodes", "nondeterministic_output").handler(this::slowGet))
                .subcommand(slowlog("len", 2, "How many slow commands are kept.")
                        .tips("request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output")
                        .handler(call -> call.reply().integer(server.slowLog().size())))
                .subcommand(slowlog("reset", 2, "Forgets all slow commands.").tips(ALL_NODES).handler(call -> {
                    server.slowLog().reset();
                    call.reply().ok();
                })).subcommand(HelpText.describe("server", "6.2.0")
                        .handler(call -> HelpText.reply(call.reply(), "SLOWLOG", "GET [<count>]",
                                "    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
                                "    Entries are made of:",
                                "    id, timestamp, time in microseconds, arguments array, client IP and port,",
                                "    client name", "LEN", "    Return the length of the slowlog.", "RESET",
                                "    Reset the slowlog."))));
        table.add(CommandSpec.named("latency").arity(-2).group("server").since("2.8.13")
                .complexity("Depends on subcommand.").summary("Latencies: spikes and distributions.")
                .subcommand(latency("latest", 2, "The latest spike of each event.").tips(OF_EACH_NODE)
                        .handler(this::latest))
                .subcommand(latency("history", 3, "The spikes of one event.").tips(OF_EACH_NODE).handler(this::history))
                .subcommand(latency("reset", -2, "Forgets spikes.")
                        .tips("request_policy:all_nodes", "response_policy:agg_sum").handler(this::reset))
                .subcommand(latency("histogram", -2, "The distribution of commands' latencies.").since("7.0.0")
                        .tips(OF_EACH_NODE)
                        .handler(this::histogram))
                .subcommand(latency("doctor", 2, "Says in words what the spikes mean.").tips(OF_EACH_NODE)
                        .handler(this::doctor))
                .subcommand(
                        latency("graph", 3, "Draws the spikes of one event.").tips(OF_EACH_NODE).handler(this::graph))
                .subcommand(HelpText.describe("server", "2.8.13")
                        .handler(call -> HelpText.reply(call.reply(), "LATENCY", "DOCTOR",
                                "    Return a human readable latency analysis report.", "GRAPH <event>",
                                "    Return an ASCII latency graph for the <event> class.", "HISTORY <event>",
                                "    Return time-latency samples for the <event> class.", "LATEST",
                                "    Return the latest latency samples for all events.", "RESET [<event> ...]",
                                "    Reset latency data of one or more <event> classes.",
                                "    (default: reset all data for all event classes)", "HISTOGRAM [COMMAND ...]",
                                "    Return a cumulative distribution of commands' latencies in histogram format."))));
    }

    private static void monitor(Invocation call) {
        if (call.isInTransaction()) {
            call.reply().error("ERR MONITOR isn't allowed for DENY BLOCKING client");
        } else if (!call.client().isMonitor()) {
            // As in Redis one that does already is not even answered.
            call.client().subscriptions().monitor();
            call.reply().ok();
        }
    }

    private static CommandBuilder slowlog(String name, int arity, String summary) {
        return CommandSpec.named(name).arity(arity).group("server").since("2.2.12").flags(ADMIN, LOADING, STALE)
                .summary(summary);
    }

    private static CommandBuilder latency(String name, int arity, String summary) {
        return CommandSpec.named(name).arity(arity).group("server").since("2.8.13")
                .flags(ADMIN, NOSCRIPT, LOADING, STALE).summary(summary);
    }

    private void slowGet(Invocation call) {
        long count = DEFAULT_ENTRIES;
        if (call.argumentCount() > 3) {
            call.reply().error("ERR unknown subcommand or wrong number of arguments for '" + call.argumentString(1)
                    + "'. Try SLOWLOG HELP.");
            return;
        }
        if (call.argumentCount() == 3) {
            if (!call.isLong(2) || call.longValue() < -1) {
                call.reply().error("ERR count should be greater than or equal to -1");
                return;
            }
            count = call.longValue() == -1 ? Long.MAX_VALUE : call.longValue();
        }
        List<SlowLog.Entry> entries = server.slowLog().latest(count);
        ReplyWriter reply = call.reply();
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

    private void latest(Invocation call) {
        List<LatencyMonitor.Event> events = server.latencies().events();
        call.reply().array(events.size());
        for (LatencyMonitor.Event event : events) {
            call.reply().array(4);
            call.reply().bulkAscii(event.name());
            call.reply().integer(event.latest().unixSeconds());
            call.reply().integer(event.latest().millis());
            call.reply().integer(event.maxMillis());
        }
    }

    private LatencyMonitor.@Nullable Event event(String name) {
        for (LatencyMonitor.Event event : server.latencies().events()) {
            if (event.name().equals(name)) {
                return event;
            }
        }
        return null;
    }

    private void history(Invocation call) {
        LatencyMonitor.Event event = event(call.argumentString(2));
        if (event == null) {
            call.reply().array(0);
            return;
        }
        call.reply().array(event.history().size());
        for (LatencyMonitor.Sample sample : event.history()) {
            call.reply().array(2);
            call.reply().integer(sample.unixSeconds());
            call.reply().integer(sample.millis());
        }
    }

    private void reset(Invocation call) {
        if (call.argumentCount() == 2) {
            server.hiccups().reset();
            call.reply().integer(server.latencies().resetAll());
            return;
        }
        int count = 0;
        for (int i = 2; i < call.argumentCount(); i++) {
            count += server.latencies().reset(call.argumentString(i)) ? 1 : 0;
        }
        call.reply().integer(count);
    }

    private void histogram(Invocation call) {
        List<String> names = server.commandNames();
        List<Integer> wanted = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            if (call.argumentCount() == 2 || isNamed(call, names.get(i))) {
                wanted.add(i);
            }
        }
        ReplyWriter reply = call.reply();
        long mark = reply.beginDeferred();
        int commands = 0;
        for (int i : wanted) {
            Histogram latencies = server.report().latencies(i);
            if (latencies != null) {
                reply.bulkAscii(names.get(i));
                distribution(reply, latencies);
                commands++;
            }
        }
        reply.endMap(mark, commands);
    }

    private static boolean isNamed(Invocation call, String name) {
        for (int i = 2; i < call.argumentCount(); i++) {
            String wanted = call.argumentString(i).toLowerCase(Locale.ROOT);
            if (name.equals(wanted) || name.startsWith(wanted + "|")) {
                return true;
            }
        }
        return false;
    }

    /**
     * Counts of all up to a power of two of a nanosecond, and of what the histogram does not tell from it, beginning with about a
     * microsecond: those where there are more than up to the one before. Clients know these bounds from Redis.
     */
    public static void distribution(ReplyWriter reply, Histogram latencies) {
        reply.map(2);
        reply.bulkAscii("calls");
        reply.integer(latencies.getTotalCount());
        reply.bulkAscii("histogram_usec");
        long mark = reply.beginDeferred();
        int pairs = 0;
        long below = 0;
        for (long bound = LEAST_BOUND_NANOS; below < latencies.getTotalCount(); bound <<= 1) {
            // The last holds the longest latency that is told apart, and ends there.
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

    private void doctor(Invocation call) {
        ServerConfig config = server.config();
        call.reply().verbatim("txt", LatencyReport.diagnosis(server.latencies().events(),
                config.latencyThresholdMillis(), config.slowlogMicros(), server.hiccups().longestMicros(),
                call.now() / MILLIS_PER_SECOND));
    }

    private void graph(Invocation call) {
        String name = call.argumentString(2);
        LatencyMonitor.Event event = event(name);
        if (event == null) {
            call.reply().error("ERR No samples available for event '" + name + "'");
        } else {
            call.reply().verbatim("txt", LatencyReport.graph(event, call.now() / MILLIS_PER_SECOND));
        }
    }
}
