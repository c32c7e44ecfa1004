package io.varve.server.command.dispatch;

import java.util.Locale;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.Arguments;
import io.varve.server.command.Batch;
import io.varve.server.command.BatchArguments;
import io.varve.server.command.Client;
import io.varve.server.command.CommandFlag;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.ServerContext;
import io.varve.server.pubsub.Monitors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What MONITOR shows: a line for each command that was executed, but for those of administrators, and without secrets. Immutable; each
 * event loop's dispatcher has one.
 *
 * <p>While nobody monitors, a command pays for one look at an array's length. A line is made before the command runs, because its
 * arguments may be gone afterwards, and told after it. What is longer than {@link #MAX_ARGUMENT_BYTES} or {@link #MAX_LINE_CHARS} is cut, as
 * in the slow log: Redis shows it, and keeps it for each monitor.
 */
final class MonitorFeed {
    static final String NOT_FOR_MONITORS = "ERR Replica can't interact with the keyspace";

    private static final Logger LOG = LoggerFactory.getLogger(MonitorFeed.class);
    /** Of an argument no more is shown. */
    static final int MAX_ARGUMENT_BYTES = 16 << 10;
    /** Once a line is as long, no further argument is shown. */
    static final int MAX_LINE_CHARS = 64 << 10;
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final char FIRST_PRINTABLE = ' ';
    private static final char LAST_PRINTABLE = '~';
    private static final String HEX = "0123456789abcdef";

    private final ServerContext server;
    private final Monitors monitors;

    MonitorFeed(ServerContext server) {
        this.server = server;
        monitors = server.channels().monitors();
    }

    /** Whether there is anybody to be told. */
    boolean isAny() {
        return monitors.isAny();
    }

    /** Whether a client may not send this because it monitors. */
    static boolean isKeptFrom(Client client, CommandSpec spec) {
        return client.isMonitor() && (spec.isWrite() || spec.has(CommandFlag.READONLY));
    }

    /** A command's arguments, quoted; null if it is not shown. */
    @Nullable
    String describe(Batch batch, int command, CommandSpec spec) {
        if (spec.has(CommandFlag.ADMIN) || spec.has(CommandFlag.SKIP_MONITOR)) {
            return null;
        }
        StringBuilder line = new StringBuilder();
        Arguments said = new BatchArguments(batch, command);
        int count = batch.argumentCount(command);
        int first = batch.firstArgument(command);
        for (int i = 0; i < count; i++) {
            if (line.length() >= MAX_LINE_CHARS) {
                line.append(" \"... (").append(count - i).append(" more arguments)\"");
                break;
            }
            line.append(i == 0 ? "\"" : " \"");
            if (spec.isSecret(said, i)) {
                line.append(CommandSpec.REDACTED);
            } else {
                quote(line, batch.address(first + i), batch.length(first + i));
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

    /** A command was refused or queued. As in Redis only an EXEC is told of all the same: its transaction is over. */
    void tellRefused(Batch batch, int command, @Nullable CommandSpec spec, Client client) {
        if (spec != null && spec.fullName().equals("exec")) {
            tell(java.util.Objects.requireNonNull(describe(batch, command, spec)), client);
        }
    }

    /** A command has been executed that is not described beforehand. */
    void tellIfShown(Batch batch, int command, CommandSpec spec, Client client) {
        String described = describe(batch, command, spec);
        if (described != null) {
            tell(described, client);
        }
    }

    /** A command that was described has been executed. */
    void tell(String described, Client client) {
        long micros = server.ticker().wallMicros();
        String head = String.format(Locale.ROOT, "%d.%06d [%d %s] ", micros / MICROS_PER_SECOND,
                micros % MICROS_PER_SECOND, client.database(), client.address());
        if (!monitors.tell(head + described)) {
            cutOff();
        }
    }

    /** One that would miss a line and not know it is of no use. */
    private void cutOff() {
        for (Client client : server.clients().unordered()) {
            if (client.isMonitor()) {
                LOG.warn("Monitor {} is closed: too much that was told is not delivered yet", client.address());
                client.kill();
            }
        }
    }
}
