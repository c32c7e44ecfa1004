package io.varve.proxy.resp;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.server.command.spec.Arguments;

/** Encodes requests as arrays of bulks. Stateless. */
public final class Requests {
    /** Size of the header of an array or a bulk at most. */
    private static final int HEADER_BYTES = 13;
    private static final int LINE_END = '\r' << 8 | '\n';

    private Requests() {}

    /** A request of text, which is sent in UTF-8. */
    public static ByteBuf of(ByteBufAllocator allocator, String... words) {
        return of(allocator, List.of(words).stream().map(word -> word.getBytes(StandardCharsets.UTF_8)).toList());
    }

    /** A request of bytes. */
    public static ByteBuf of(ByteBufAllocator allocator, List<byte[]> words) {
        int bytes = HEADER_BYTES;
        for (byte[] word : words) {
            bytes += HEADER_BYTES + word.length + 2;
        }
        ByteBuf request = allocator.directBuffer(bytes);
        header(request, '*', words.size());
        for (byte[] word : words) {
            header(request, '$', word.length);
            request.writeBytes(word).writeShort(LINE_END);
        }
        return request;
    }

    /** A request of some of the arguments of another one: {@code indexes} in this order. */
    public static ByteBuf select(ByteBufAllocator allocator, Arguments from, int[] indexes, int count) {
        long bytes = HEADER_BYTES;
        for (int i = 0; i < count; i++) {
            bytes += HEADER_BYTES + from.argumentLength(indexes[i]) + 2L;
        }
        ByteBuf request = allocator.directBuffer(Math.toIntExact(bytes));
        header(request, '*', count);
        for (int i = 0; i < count; i++) {
            int length = from.argumentLength(indexes[i]);
            header(request, '$', length);
            request.ensureWritable(length + 2);
            io.varve.memory.offheap.Memory.copy(from.argumentAddress(indexes[i]),
                    request.memoryAddress() + request.writerIndex(), length);
            request.writerIndex(request.writerIndex() + length).writeShort(LINE_END);
        }
        return request;
    }

    private static void header(ByteBuf to, char kind, int number) {
        to.writeByte(kind);
        to.writeCharSequence(Integer.toString(number), StandardCharsets.US_ASCII);
        to.writeShort(LINE_END);
    }
}
