package io.varve.proxy.resp;

import io.netty.buffer.ByteBuf;

/** Receives one reply. Confined to the event loop of its client. */
@FunctionalInterface
public interface ReplyTarget {
    /** Takes over the reply. */
    void accept(ByteBuf reply);
}
