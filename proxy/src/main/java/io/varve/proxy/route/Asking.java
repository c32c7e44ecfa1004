package io.varve.proxy.route;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** Sends a request with ASKING in front, as the redirection ASK requires. Stateless. */
public final class Asking {
    private static final ByteBuf ASKING = Unpooled.unreleasableBuffer(
            Unpooled.copiedBuffer("*1\r\n$6\r\nASKING\r\n", StandardCharsets.US_ASCII));

    private Asking() {}

    /** Both commands, with a reference of their own to the request; there is one more leading reply. */
    public static ByteBuf before(ByteBuf request) {
        return request.alloc().compositeBuffer(2).addComponents(true, ASKING.duplicate(),
                request.retainedDuplicate());
    }
}
