package io.varve.ycsb.record;

import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

import io.varve.ycsb.option.VarveOptions;

/**
 * Packs all fields of a record into one value; it is read field by field from start to end. Immutable (no state).
 *
 * <pre>
 * | name length | name, UTF-8 | value length | value | next field ...
 *    varint                       varint
 * </pre>
 *
 * <p>A varint is 7 bits a byte, least significant first, the top bit set on all but the last. YCSB's {@code field0}
 * with 1000 bytes is packed in 1009.
 */
public final class PackedRecord {

    private static final int VARINT_BITS = 7;
    private static final int VARINT_MASK = (1 << VARINT_BITS) - 1;
    private static final int VARINT_MORE = 1 << VARINT_BITS;

    private PackedRecord() {}

    /**
     * Packs.
     *
     * @param fields name to value
     * @return the value to store
     */
    public static byte[] pack(Map<String, byte[]> fields) {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        for (Map.Entry<String, byte[]> field : fields.entrySet()) {
            writeRun(packed, field.getKey().getBytes(StandardCharsets.UTF_8));
            writeRun(packed, field.getValue());
        }
        return packed.toByteArray();
    }

    /**
     * Unpacks.
     *
     * @param packed a stored value
     * @return name to value, in the order they were packed
     * @throws IllegalArgumentException if these bytes are not a packed record
     */
    public static Map<String, byte[]> unpack(byte[] packed) {
        Map<String, byte[]> fields = new LinkedHashMap<>();
        ByteBuffer in = ByteBuffer.wrap(packed);
        while (in.hasRemaining()) {
            try {
                String name = new String(readRun(in), StandardCharsets.UTF_8);
                fields.put(name, readRun(in));
            } catch (BufferUnderflowException e) {
                throw new IllegalArgumentException("a value of " + packed.length
                        + " bytes is not a packed record; was it written with " + VarveOptions.RECORD + "=string?", e);
            }
        }
        return fields;
    }

    private static void writeRun(ByteArrayOutputStream out, byte[] run) {
        int rest = run.length;
        while (rest > VARINT_MASK) {
            out.write(rest & VARINT_MASK | VARINT_MORE);
            rest >>>= VARINT_BITS;
        }
        out.write(rest);
        out.write(run, 0, run.length);
    }

    private static byte[] readRun(ByteBuffer in) {
        long length = 0;
        int shift = 0;
        byte next;
        do {
            if (shift >= Integer.SIZE) {
                throw new BufferUnderflowException();
            }
            next = in.get();
            length |= (long) (next & VARINT_MASK) << shift;
            shift += VARINT_BITS;
        } while (next < 0);
        if (length > in.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] run = new byte[(int) length];
        in.get(run);
        return run;
    }
}
