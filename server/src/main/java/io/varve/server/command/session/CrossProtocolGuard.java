package io.varve.server.command.session;

import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.batch.Batch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects HTTP requests among the commands. Thread-safe: any event loop may check and warn.
 *
 * <p>A web page can make the browser of a person inside the network send an HTTP request to this port. The server would
 * read its head as unknown commands, and its body as commands that the page's author chose. As in Redis, a connection
 * that sends {@code POST} or {@code host:} as a command is closed at once: every such request has one of them before
 * its body.
 */
public final class CrossProtocolGuard {
    private static final Logger LOG = LoggerFactory.getLogger(CrossProtocolGuard.class);
    /** Interval between two warnings, ms, so that HTTP clients cannot fill the log. */
    private static final long WARNING_INTERVAL_MILLIS = 60_000;

    private final AtomicLong nextWarningMillis = new AtomicLong(Long.MIN_VALUE);

    /** Whether a command's name is {@code post} or {@code host:} in any case; a NUL ends the name, as in C. */
    public static boolean recognizes(Batch batch, int command) {
        int name = batch.firstArgument(command);
        return recognizes(batch.address(name), batch.length(name));
    }

    private static boolean recognizes(long address, int length) {
        return is("post", address, length) || is("host:", address, length);
    }

    private static boolean is(String name, long address, int length) {
        int size = name.length();
        if (length < size || length > size && Memory.getByte(address + size) != 0) {
            return false;
        }
        for (int i = 0; i < size; i++) {
            if (Character.toLowerCase(Memory.getByte(address + i)) != name.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** Logs the client's address, and nothing of what it sent. */
    public void warn(Client client, long nowMillis) {
        long next = nextWarningMillis.get();
        if (nowMillis >= next && nextWarningMillis.compareAndSet(next, nowMillis + WARNING_INTERVAL_MILLIS)) {
            LOG.warn(
                    "Connection {} is closed: it sends HTTP (POST or Host: as a command), which may be a"
                            + " cross-protocol "
                            + "attack through a browser; further ones within {} s are not logged",
                    client.address(),
                    WARNING_INTERVAL_MILLIS / 1000);
        }
    }
}
