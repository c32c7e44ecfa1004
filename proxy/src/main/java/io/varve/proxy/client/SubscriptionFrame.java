package io.varve.proxy.client;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;
import io.varve.proxy.resp.Reply;

/** What a member sends to a connection that has subscribed. Immutable. */
enum SubscriptionFrame {
    /** For the client. */
    MESSAGE,
    /** A subscription has begun or ended. */
    CONFIRMATION,
    /** A command was refused. */
    ERROR;

    private static final int MAX_HEAD_BYTES = 32;
    private static final String ENDING = "subscribe\r\n";

    /** Reads the first element, which names the kind. */
    static SubscriptionFrame of(ByteBuf frame) {
        if (Reply.isError(frame)) {
            return ERROR;
        }
        String head = frame.toString(frame.readerIndex(), Math.min(frame.readableBytes(), MAX_HEAD_BYTES),
                StandardCharsets.ISO_8859_1);
        // After the aggregate's header and the bulk's.
        int word = head.indexOf('\n', head.indexOf('\n') + 1) + 1;
        int end = head.indexOf('\n', word) + 1;
        return head.substring(word, Math.max(word, end)).endsWith(ENDING) ? CONFIRMATION : MESSAGE;
    }
}
