package io.varve.server.net;

import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;
import io.varve.memory.item.Ticker;

/**
 * The lingering close of a connection after a protocol error: it drops further input until the client closes, or until
 * a limit. Confined to the event loop of the connection.
 *
 * <p>To close a socket with unread bytes resets the connection, and the client may never see the error.
 */
// A failed close shows as channelInactive, which cleans up: no caller needs its future.
@SuppressWarnings("FutureReturnValueIgnored")
final class LingeringClose {
    private static final int MILLIS = 2000;
    private static final int BYTES = 16 << 20;

    private final Channel channel;
    private final Ticker ticker;
    private final boolean encrypted;
    /** 0 while it does not linger. */
    private long untilMillis;
    private int bytesLeft;

    /** @param encrypted whether the encryption signals the end of output, which closes the connection */
    LingeringClose(Channel channel, Ticker ticker, boolean encrypted) {
        this.channel = channel;
        this.ticker = ticker;
        this.encrypted = encrypted;
    }

    /** Ends the output, so that the client sees its end. */
    void begin() {
        if (!channel.isActive()) {
            return;
        }
        if (encrypted) {
            channel.close();
            return;
        }
        bytesLeft = BYTES;
        untilMillis = ticker.wallMillis() + MILLIS;
        ((DuplexChannel) channel).shutdownOutput();
        channel.config().setAutoRead(true);
    }

    /** Counts bytes that were read and dropped. */
    void dropped(int bytes) {
        bytesLeft -= bytes;
        if (untilMillis != 0 && bytesLeft < 0) {
            channel.close();
        }
    }

    /** Called about once a second. */
    void check(long nowMillis) {
        if (untilMillis != 0 && nowMillis >= untilMillis) {
            channel.close();
        }
    }
}
