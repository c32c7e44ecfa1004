package io.varve.server.command.dispatch;

import java.util.Locale;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.BatchArguments;
import io.varve.server.command.session.Client;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.pubsub.Monitors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lines of MONITOR: one for each executed command, except administrative ones, and without secrets. Immutable; each
 * event loop's dispatcher has one.
 *
 * <p>Without monitors, a command pays for one read of an array's length. The line is built before the command runs,
 * because its arguments may be released by its end, and sent after it. Text longer than {@link #MAX_ARGUMENT_BYTES} or
 * {@link #MAX_LINE_CHARS} is cut, as in the slow log; Redis shows all of it, and keeps it for each monitor.
 */
final class MonitorFeed {
    static final String NOT_FOR_MONITORS = "ERR Replica can't interact with the keyspace";

    private static final Logger LOG = LoggerFactory.getLogger(MonitorFeed.class);
    /** Maximum bytes shown of an argument. */
    static final int MAX_ARGUMENT_BYTES = 16 << 10;
    /** A line of this length shows no further argument. */
    static final int MAX_LINE_CHARS = 64 << 10;
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final char FIRST_PRINTABLE = ' ';
    private static final char LAST_PRINTABLE = '~';
    private static final String HEX = "0123456789abcdef";

    private final ServerState server;
    private final Monitors monitors;

    MonitorFeed(ServerState server) {
        this.server = server;
        monitors = server.notifications().channels().monitors();
    }

    /** Whether any client monitors. */
    boolean isAny() {
        // As in Redis, monitors do not see what the load runs.
        return monitors.isAny() && !server.load().isLoading();
    }

    /** Whether a client must not send this command because it monitors. */
    static boolean isKeptFrom(Client client, CommandSpec spec) {
        return client.isMonitor() && (spec.isWrite() || spec.has(CommandFlag.READONLY));
    }

    /** A command's arguments, quoted; null if MONITOR does not show the command. */
    @Nullable
    String describe(Batch batch, int command, CommandSpec spec) {
        return spec.has(CommandFlag.ADMIN) || spec.has(CommandFlag.SKIP_MONITOR)
                ? null
                : describe(new BatchArguments(batch, command), spec);
    }

    /** Sends the line of a command that runs a script, before the lines of what the script calls. */
    void publishScript(Arguments said, CommandSpec spec, Client client) {
        if (isAny()) {
            publish(describe(said, spec), client);
        }
    }

    private static String describe(Arguments said, CommandSpec spec) {
        StringBuilder line = new StringBuilder();
        int count = said.argumentCount();
        for (int i = 0; i < count; i++) {
            if (line.length() >= MAX_LINE_CHARS) {
                line.append(" \"... (").append(count - i).append(" more arguments)\"");
                break;
            }
            line.append(i == 0 ? "\"" : " \"");
            if (spec.isSecret(said, i)) {
                line.append(CommandSpec.REDACTED);
            } else {
                quote(line, said.argumentAddress(i), said.argumentLength(i));
            }
            line.append('"');
        }
        return line.toString();
    }

    private static void quote(StringBuilder line, long address, int length) {
        int shown = Math.min(length, MAX_ARGUMENT_BYTES);
        for (int i = 0; i < shown; i++) {
            char c = (char) (Memory.getByte(address + i) & 0xFF);
            switch (c) {
                case '"', '\\' -> line.append('\\').append(c);
                case '\n' -> line.append("\\n");
                case '\r' -> line.append("\\r");
                case '\t' -> line.append("\\t");
                case '\b' -> line.append("\\b");
                case '\007' -> line.append("\\a");
                default -> {
                    if (c >= FIRST_PRINTABLE && c <= LAST_PRINTABLE) {
                        line.append(c);
                    } else {
                        line.append("\\x").append(HEX.charAt(c >>> 4)).append(HEX.charAt(c & 0xF));
                    }
                }
            }
        }
        if (shown < length) {
            line.append("... (").append(length - shown).append(" more bytes)");
        }
    }

    /** Sends a refused command's line. As in Redis, only an EXEC is shown, because its transaction is over. */
    void publishRefused(Batch batch, int command, @Nullable CommandSpec spec, Client client) {
        if (spec != null && spec.fullName().equals("exec")) {
            publish(java.util.Objects.requireNonNull(describe(batch, command, spec)), client);
        }
    }

    /** Sends the line of an executed command that has not been described yet. */
    void publishIfShown(Batch batch, int command, CommandSpec spec, Client client) {
        String described = describe(batch, command, spec);
        if (described != null) {
            publish(described, client);
        }
    }

    /** Sends the line of an executed command. */
    void publish(String described, Client client) {
        publish(described, client.database(), client.address());
    }

    /** Sends the line of a command that a script has called. */
    void publishInScript(String described, Client client) {
        publish(described, client.database(), "lua");
    }

    private void publish(String described, int database, String source) {
        long micros = server.ticker().wallMicros();
        String head = String.format(Locale.ROOT, "%d.%06d [%d %s] ", micros / MICROS_PER_SECOND,
                micros % MICROS_PER_SECOND, database, source);
        if (!monitors.publish(head + described)) {
            disconnect();
        }
    }

    /** Closes all monitors, because a monitor must not silently miss a line. */
    private void disconnect() {
        for (Client client : server.lifecycle().clients().unordered()) {
            if (client.isMonitor()) {
                LOG.warn("Monitor {} is closed: its undelivered lines exceed the limit", client.address());
                client.kill();
            }
        }
    }
}
