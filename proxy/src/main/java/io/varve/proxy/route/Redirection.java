package io.varve.proxy.route;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;
import io.varve.proxy.map.Endpoint;
import org.jspecify.annotations.Nullable;

/**
 * An error by which a member of a cluster says that a request has not run and may run elsewhere or later. Immutable.
 *
 * @param to the other member; null for {@link Kind#LATER}
 */
public record Redirection(Kind kind, @Nullable Endpoint to) {
    private static final int MAX_TEXT_BYTES = 512;
    private static final Redirection LATER = new Redirection(Kind.LATER, null);

    /** What to do. */
    public enum Kind {
        /** The other member has the slot. */
        MOVED,
        /** The other member may have the key, while the slot moves. */
        ASK,
        /** It may be served there after a pause: TRYAGAIN, CLUSTERDOWN. */
        LATER
    }

    /**
     * Reads an error reply.
     *
     * @param from the member that replied, whose host stands for an empty one
     * @return null if it is another error
     */
    public static @Nullable Redirection of(ByteBuf error, Endpoint from) {
        int length = Math.min(error.readableBytes() - 1, MAX_TEXT_BYTES);
        byte first = error.getByte(error.readerIndex() + 1);
        boolean isCandidate = first == 'M' || first == 'A' || first == 'T' || first == 'C';
        return isCandidate
                ? of(error.toString(error.readerIndex() + 1, length, StandardCharsets.ISO_8859_1), from)
                : null;
    }

    /** As {@link #of(ByteBuf, Endpoint)}, from the text of the error. */
    public static @Nullable Redirection of(String error, Endpoint from) {
        String[] words = error.strip().split(" ", 4);
        return switch (words[0]) {
            case "TRYAGAIN", "CLUSTERDOWN" -> LATER;
            case "MOVED", "ASK" -> {
                Endpoint to = words.length < 3 ? null : endpoint(words[2].strip(), from);
                yield to == null ? null : new Redirection(Kind.valueOf(words[0]), to);
            }
            default -> null;
        };
    }

    private static @Nullable Endpoint endpoint(String address, Endpoint from) {
        boolean hasNoHost = address.lastIndexOf(':') == 0;
        return Endpoint.parse(hasNoHost ? from.host() + address : address);
    }
}
