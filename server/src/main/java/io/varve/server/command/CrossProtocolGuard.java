package io.varve.server.command;

import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.offheap.Memory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Recognizes HTTP among the commands. Guarded by itself: any event loop may ask and warn.
 *
 * <p>A web page can have the browser of someone inside the network send an HTTP request to this port. Its head would be
 * so many unknown commands, and its body commands that the page's author chose. As Redis does it, a connection that
 * sends {@code POST} or {@code host:} as a command ends there and then: every such request has the one or the other in
 * front of its body.
 */
public final class CrossProtocolGuard {
    private static final Logger LOG = LoggerFactory.getLogger(CrossProtocolGuard.class);
    /** One warning in so many milliseconds: who sends HTTP shall not fill the log. */
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

    /** Says in the log who it was, and nothing of what was sent. */
    public void warn(Client client, long nowMillis) {
        long next = nextWarningMillis.get();
        if (nowMillis >= next && nextWarningMillis.compareAndSet(next, nowMillis + WARNING_INTERVAL_MILLIS)) {
            LOG.warn("Connection {} is closed: it sends HTTP (POST or Host: as a command), which looks like an attack "
                    + "by way of a browser; further ones within {} s are not logged", client.address(),
                    WARNING_INTERVAL_MILLIS / 1000);
        }
    }
}
