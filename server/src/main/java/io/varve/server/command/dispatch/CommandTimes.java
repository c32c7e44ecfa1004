package io.varve.server.command.dispatch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.varve.memory.item.Ticker;
import io.varve.server.admin.LoopCounters;
import io.varve.server.admin.SlowLog;
import io.varve.server.command.Arguments;
import io.varve.server.command.Batch;
import io.varve.server.command.BatchArguments;
import io.varve.server.command.Client;
import io.varve.server.command.CommandFlag;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.ServerContext;
import io.varve.server.config.ServerConfig;

/**
 * How long commands take: for the statistics, the slow log and the latency monitor. Confined to its event loop.
 *
 * <p>Reading the clock takes a tenth of the time of a GET. So short commands on one key ({@link CommandSpec#sharesClock}),
 * one after the other in a batch, share a reading, and each counts with an equal part. One that has to wait, for a lock or until there is
 * room, is timed alone: {@link #aside} is called before it does. What stalls the thread from outside meanwhile counts for
 * the last of those that share. Where the slow log asks for less than a millisecond, none share.
 */
final class CommandTimes {
    /** So many share a reading at most. */
    private static final int MOST_TOGETHER = 8;
    private static final long LEAST_SHARED_MICROS = 1000;

    private final ServerContext server;
    private final Ticker ticker;
    private final LoopCounters counters;
    private boolean sharing;
    private long started;
    /** How many commands in front of the one that runs share a reading. */
    private int together;
    private boolean alone;

    CommandTimes(ServerContext server, LoopCounters counters) {
        this.server = server;
        this.counters = counters;
        ticker = server.ticker();
    }

    /** Before the first command of a run. */
    void begin() {
        long slowlogMicros = server.config().slowlogMicros();
        sharing = slowlogMicros < 0 || slowlogMicros >= LEAST_SHARED_MICROS;
        together = 0;
        started = ticker.nanoTime();
    }

    /** Before a command runs: one that does not share the clock ends what was shared. */
    void before(Batch batch, int command, boolean sharesClock, Client client, long nowMillis) {
        alone = !sharing || !sharesClock;
        if (alone) {
            settle(batch, command, client, nowMillis);
        }
    }

    /** The command that runs is about to wait: the time so far is that of those in front of it. */
    void aside(Batch batch, int command, Client client, long nowMillis) {
        if (!alone) {
            settle(batch, command, client, nowMillis);
            alone = true;
        }
    }

    /** A command ran. */
    void ran(Batch batch, int command, boolean failed, Client client, long nowMillis) {
        together++;
        if (failed) {
            counters.failed(spec(batch, command).id());
        }
        if (alone || together == MOST_TOGETHER) {
            settle(batch, command + 1, client, nowMillis);
        }
    }

    /** A command was refused before its handler ran: it takes no time of its own. */
    void refused(Batch batch, int command, CommandSpec spec, Client client, long nowMillis) {
        settle(batch, command, client, nowMillis);
        counters.rejected(spec.id());
        started = ticker.nanoTime();
    }

    /** A command ran in a transaction. */
    void ranWithin(Batch batch, int command, long nanos, boolean failed, Client client, long nowMillis) {
        int id = spec(batch, command).id();
        ServerConfig config = server.config();
        counters.ran(id, 1, nanos, config.latencyTracking());
        if (failed) {
            counters.failed(id);
        }
        long micros = nanos / 1000;
        if (isSlow(micros, config)) {
            tellSlow(batch, command, micros, client, nowMillis, config);
        }
    }

    private static boolean isSlow(long micros, ServerConfig config) {
        return config.slowlogMicros() >= 0 && micros >= config.slowlogMicros()
                || config.latencyThresholdMillis() > 0 && micros >= config.latencyThresholdMillis() * 1000;
    }

    /** A command was queued: it is counted when it runs. */
    void queued(Batch batch, int command, Client client, long nowMillis) {
        settle(batch, command, client, nowMillis);
        started = ticker.nanoTime();
    }

    /** What took the time since is no command's: a name that none has, messages that were written. */
    void skip() {
        started = ticker.nanoTime();
    }

    /**
     * Reads the clock, and counts the time since for the commands that share it.
     *
     * @param end number of the command behind the last of them
     */
    void settle(Batch batch, int end, Client client, long nowMillis) {
        int count = together;
        if (count == 0) {
            return;
        }
        long now = ticker.nanoTime();
        long elapsed = now - started;
        started = now;
        together = 0;
        boolean track = server.config().latencyTracking();
        int first = end - count;
        for (int next = first; next < end;) {
            int id = spec(batch, next).id();
            int same = next + 1;
            while (same < end && spec(batch, same).id() == id) {
                same++;
            }
            counters.ran(id, same - next, elapsed / count, track);
            next = same;
        }
        long micros = elapsed / 1000;
        ServerConfig config = server.config();
        if (isSlow(micros, config)) {
            tellSlow(batch, end - 1, micros, client, nowMillis, config);
        }
    }

    private void tellSlow(Batch batch, int command, long micros, Client client, long nowMillis, ServerConfig config) {
        CommandSpec spec = spec(batch, command);
        if (config.slowlogMicros() >= 0 && micros >= config.slowlogMicros() && !spec.has(CommandFlag.SKIP_SLOWLOG)) {
            server.slowLog().add(nowMillis / 1000, micros, slowArguments(batch, command, spec), client.address(),
                    client.name(), config.number("slowlog-max-len"));
        }
        if (config.latencyThresholdMillis() > 0 && micros >= config.latencyThresholdMillis() * 1000) {
            String event = spec.has(CommandFlag.FAST) ? "fast-command" : "command";
            server.latencies().add(event, nowMillis / 1000, micros / 1000);
        }
    }

    private static CommandSpec spec(Batch batch, int command) {
        return java.util.Objects.requireNonNull(batch.spec(command));
    }

    private static List<byte[]> slowArguments(Batch batch, int command, CommandSpec spec) {
        Arguments said = new BatchArguments(batch, command);
        int count = batch.argumentCount(command);
        int kept = Math.min(count, SlowLog.MAX_ARGUMENTS);
        List<byte[]> arguments = new ArrayList<>(kept);
        for (int i = 0; i < kept; i++) {
            if (i == kept - 1 && kept < count) {
                arguments.add(ascii("... (" + (count - kept + 1) + " more arguments)"));
                break;
            }
            int length = batch.length(batch.firstArgument(command) + i);
            if (spec.isSecret(said, i)) {
                arguments.add(ascii(CommandSpec.REDACTED));
            } else if (length <= SlowLog.MAX_ARGUMENT_BYTES) {
                arguments.add(batch.argumentBytes(command, i, length));
            } else {
                byte[] head = batch.argumentBytes(command, i, SlowLog.MAX_ARGUMENT_BYTES);
                byte[] tail = ascii("... (" + (length - head.length) + " more bytes)");
                byte[] cut = Arrays.copyOf(head, head.length + tail.length);
                System.arraycopy(tail, 0, cut, head.length, tail.length);
                arguments.add(cut);
            }
        }
        return arguments;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    }
}
