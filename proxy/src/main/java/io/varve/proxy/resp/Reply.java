package io.varve.proxy.resp;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A complete reply as a tree of text. Immutable.
 *
 * <p>For replies whose contents the proxy reads: slot maps, cursors, counts, handshakes. Other replies stay bytes.
 *
 * @param kind the type byte
 * @param text the line, or the bytes of a bulk in ISO 8859-1; null if the reply is null
 * @param elements of an aggregate; keys and values of a map alternate
 */
public record Reply(char kind, @Nullable String text, List<Reply> elements) {
    /** Reads the reply that a buffer holds, without moving its indexes. */
    public static Reply of(ByteBuf bytes) {
        return new Parser(bytes).next();
    }

    public boolean isError() {
        return kind == '-' || kind == '!';
    }

    /** The text, or nothing if the reply is null. */
    public String textOrEmpty() {
        return text == null ? "" : text;
    }

    /** The number of an integer reply, or of a bulk with digits. */
    public long integer() {
        return Long.parseLong(textOrEmpty());
    }

    /** The replies of an aggregate as slices of its bytes, which share its reference count. */
    public static List<ByteBuf> elementsOf(ByteBuf aggregate) {
        int from = aggregate.readerIndex();
        int to = aggregate.writerIndex();
        int lineEnd = aggregate.indexOf(from, to, (byte) '\n');
        int count = Integer.parseInt(
                aggregate.toString(from + 1, lineEnd - 1 - (from + 1), StandardCharsets.US_ASCII));
        List<ByteBuf> elements = new ArrayList<>(Math.max(0, count));
        ReplyScanner scanner = new ReplyScanner();
        int at = lineEnd + 1;
        for (int i = 0; i < count; i++) {
            int end = scanner.scan(aggregate, at, to);
            elements.add(aggregate.slice(at, end - at));
            at = end;
        }
        return elements;
    }

    /** Whether the bytes are an error reply. */
    public static boolean isError(ByteBuf reply) {
        byte kind = reply.getByte(reply.readerIndex());
        return kind == '-' || kind == '!';
    }

    /** Reads one tree. Confined to a call. */
    private static final class Parser {
        private final ByteBuf bytes;
        private int at;

        Parser(ByteBuf bytes) {
            this.bytes = bytes;
            at = bytes.readerIndex();
        }

        Reply next() {
            char kind = (char) bytes.getByte(at);
            String line = line();
            return switch (kind) {
                case '$', '=', '!' -> new Reply(kind, bulk(Integer.parseInt(line)), List.of());
                case '*', '~', '>' -> aggregate(kind, Integer.parseInt(line));
                case '%' -> aggregate(kind, 2 * Integer.parseInt(line));
                case '|' -> {
                    aggregate(kind, 2 * Integer.parseInt(line));
                    yield next();
                }
                case '_' -> new Reply(kind, null, List.of());
                default -> new Reply(kind, line, List.of());
            };
        }

        private String line() {
            int end = bytes.indexOf(at, bytes.writerIndex(), (byte) '\n');
            String line = bytes.toString(at + 1, end - 1 - (at + 1), StandardCharsets.ISO_8859_1);
            at = end + 1;
            return line;
        }

        private @Nullable String bulk(int length) {
            if (length < 0) {
                return null;
            }
            String text = bytes.toString(at, length, StandardCharsets.ISO_8859_1);
            at += length + 2;
            return text;
        }

        private Reply aggregate(char kind, int count) {
            List<Reply> elements = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                elements.add(next());
            }
            return new Reply(kind, count < 0 ? null : Integer.toString(count), elements);
        }
    }
}
