package io.varve.cluster.protocol;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The frame of a message: a version, then its fields. Stateless.
 *
 * <p>Commands are in the Raft log in this form, so that a new version must still read the old one.
 */
final class MessageCodec {
    static final int VERSION = 1;

    private MessageCodec() {}

    /** Writes the fields of a message. */
    @FunctionalInterface
    interface Fields {
        void write(DataOutputStream out) throws IOException;
    }

    /** Reads the fields of a message. */
    @FunctionalInterface
    interface Parser<T> {
        T read(DataInputStream in) throws IOException;
    }

    static byte[] encode(Fields fields) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            fields.write(out);
        } catch (IOException impossible) {
            // A text of more than 64 KB, for example.
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    /** @throws IOException if the bytes are no such message, or of a later version */
    static <T> T decode(byte[] bytes, Parser<T> parser) throws IOException {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int version = in.readUnsignedByte();
            if (version != VERSION) {
                throw new IOException("a message of version " + version + ": expected " + VERSION);
            }
            T message = parser.read(in);
            if (in.read() >= 0) {
                throw new IOException("bytes follow the end of a message");
            }
            return message;
        }
    }
}
