package io.varve.server.command.dispatch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.varve.memory.item.Ticker;
import io.varve.server.admin.LoopCounters;
import io.varve.server.admin.latency.SlowLog;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.BatchArguments;
import io.varve.server.command.session.Client;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.config.ServerConfig;

/**
 * Measures command durations for the statistics, the slow log and the latency monitor. Confined to its event loop.
 *
 * <p>Reading the clock takes a tenth of the time of a GET. So consecutive short commands
 * ({@link CommandSpec#sharesClock}) share a reading, and each counts with an equal part.
 * A command that has to wait for a lock or for memory is timed alone: {@link #timeSeparately} is called before the
 * wait. An outside stall of the thread counts for the last of the commands that share. If the slow log threshold is
 * below a millisecond, no commands share.
 */
final class CommandTimes {
    /** Maximum number of commands that share a reading. */
    private static final int MAX_SHARING_COMMANDS = 8;
    private static final long MIN_SHARED_MICROS = 1000;

    private final ServerState server;
    private final Ticker ticker;
    private final LoopCounters counters;
    private boolean sharing;
    private long started;
    /** Number of commands before the running one that share its reading. */
    private int together;
    private boolean alone;

    CommandTimes(ServerState server, LoopCounters counters) {
        this.server = server;
        this.counters = counters;
        ticker = server.ticker();
    }

    /** Starts before the first command of a run. */
    void begin() {
        long slowlogMicros = server.config().slowlogMicros();
        sharing = slowlogMicros < 0 || slowlogMicros >= MIN_SHARED_MICROS;
        together = 0;
        started = ticker.nanoTime();
    }

    /** Prepares for a command: if it does not share the clock, settles the commands that did. */
    void before(Batch batch, int command, boolean sharesClock, Client client, long nowMillis) {
        alone = !sharing || !sharesClock;
        if (alone) {
            settle(batch, command, client, nowMillis);
        }
    }

    /** Settles the commands in front, because the running command is about to wait. */
    void timeSeparately(Batch batch, int command, Client client, long nowMillis) {
        if (!alone) {
            settle(batch, command, client, nowMillis);
            alone = true;
        }
    }

    /** Records that a command ran. */
    void ran(Batch batch, int command, boolean failed, Client client, long nowMillis) {
        together++;
        if (failed) {
            counters.failed(spec(batch, command).id());
        }
        if (alone || together == MAX_SHARING_COMMANDS) {
            settle(batch, command + 1, client, nowMillis);
        }
    }

    /** Records that a command was refused before its handler ran: it takes no time of its own. */
    void refused(Batch batch, int command, CommandSpec spec, Client client, long nowMillis) {
        settle(batch, command, client, nowMillis);
        counters.rejected(spec.id());
        started = ticker.nanoTime();
    }

    /** Records a command that ran in a transaction. */
    void ranWithin(Batch batch, int command, long nanos, boolean failed, Client client, long nowMillis) {
        int id = spec(batch, command).id();
        ServerConfig config = server.config();
        counters.ran(id, 1, nanos, config.latencyTracking());
        if (failed) {
            counters.failed(id);
        }
        long micros = nanos / 1000;
        if (isSlow(micros, config)) {
            logSlow(batch, command, micros, client, nowMillis, config);
        }
    }

    private static boolean isSlow(long micros, ServerConfig config) {
        return config.slowlogMicros() >= 0 && micros >= config.slowlogMicros()
                || config.latencyThresholdMillis() > 0 && micros >= config.latencyThresholdMillis() * 1000;
    }

    /** Settles the time when a command is queued; the command counts when it runs. */
    void queued(Batch batch, int command, Client client, long nowMillis) {
        settle(batch, command, client, nowMillis);
        started = ticker.nanoTime();
    }

    /**
     * Drops the time since the last reading, which belongs to no command: an unknown name, or messages that were
     * written.
     */
    void skip() {
        started = ticker.nanoTime();
    }

    /**
     * Reads the clock and divides the time since the last reading between the commands that share it.
     *
     * @param end number of the command after the last of them
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
            logSlow(batch, end - 1, micros, client, nowMillis, config);
        }
    }

    private void logSlow(Batch batch, int command, long micros, Client client, long nowMillis, ServerConfig config) {
        CommandSpec spec = spec(batch, command);
        if (config.slowlogMicros() >= 0 && micros >= config.slowlogMicros() && !spec.has(CommandFlag.SKIP_SLOWLOG)) {
            server.telemetry().slowLog().add(nowMillis / 1000, micros, slowArguments(batch, command, spec),
                    client.address(),
                    client.name(), config.number("slowlog-max-len"));
        }
        if (config.latencyThresholdMillis() > 0 && micros >= config.latencyThresholdMillis() * 1000) {
            String event = spec.has(CommandFlag.FAST) ? "fast-command" : "command";
            server.telemetry().latencies().add(event, nowMillis / 1000, micros / 1000);
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
