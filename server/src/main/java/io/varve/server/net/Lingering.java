package io.varve.server.net;

import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;
import io.varve.memory.item.Ticker;

/**
 * The end of a connection whose client was told that its input makes no sense: what it still sends is dropped until it closes, or for a
 * while. Confined to the event loop of the connection.
 *
 * <p>A socket that is closed with unread bytes resets the connection, and the client may never see the error.
 */
// A failed close shows as channelInactive, which cleans up: nobody needs its future.
@SuppressWarnings("FutureReturnValueIgnored")
final class Lingering {
    private static final int MILLIS = 2000;
    private static final int BYTES = 16 << 20;

    private final Channel channel;
    private final Ticker ticker;
    private final boolean encrypted;
    /** 0: it does not linger. */
    private long untilMillis;
    private int bytesLeft;

    /** @param encrypted whether the end of what is sent is told by the encryption, which ends the connection with it */
    Lingering(Channel channel, Ticker ticker, boolean encrypted) {
        this.channel = channel;
        this.ticker = ticker;
        this.encrypted = encrypted;
    }

    /** Tells the client that nothing more comes. */
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

    /** So many bytes were read and dropped. */
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
