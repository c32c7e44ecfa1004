package io.varve.cluster.controller;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;

import io.varve.cluster.map.SlotMap;
import io.varve.cluster.protocol.CommandCodec;
import io.varve.cluster.protocol.SlotMapCodec;

/**
 * The bytes of a snapshot: a magic number, a version, the state, and a CRC-32C of all of it. Stateless.
 *
 * <p>Equal states have equal bytes.
 */
final class ClusterStateCodec {
    /** "VCST". */
    private static final int MAGIC = 0x56_43_53_54;
    private static final int VERSION = 1;

    private ClusterStateCodec() {}

    static byte[] encode(ClusterState state) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(MAGIC);
            out.writeByte(VERSION);
            SlotMapCodec.write(state.map(), out);
            out.writeInt(state.generations().size());
            for (Map.Entry<String, Long> generation : new TreeMap<>(state.generations()).entrySet()) {
                out.writeUTF(generation.getKey());
                out.writeLong(generation.getValue());
            }
            out.writeLong(state.lastAbort());
            out.writeInt(state.identifiers().size());
            for (Map.Entry<String, List<Long>> pinned : new TreeMap<>(state.identifiers()).entrySet()) {
                out.writeUTF(pinned.getKey());
                CommandCodec.writeIdentifiers(pinned.getValue(), out);
            }
            out.writeInt(checksum(bytes.toByteArray()));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    /** @throws IOException if the bytes are damaged, or of a later version */
    static ClusterState decode(byte[] bytes) throws IOException {
        int end = bytes.length - Integer.BYTES;
        if (end < 0 || ByteBuffer.wrap(bytes).getInt(end) != checksum(Arrays.copyOf(bytes, end))) {
            throw new IOException("the checksum of a snapshot with " + bytes.length + " bytes is wrong");
        }
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes, 0, end))) {
            int magic = in.readInt();
            int version = in.readUnsignedByte();
            if (magic != MAGIC || version != VERSION) {
                throw new IOException("a snapshot of version " + version + ": expected " + VERSION);
            }
            SlotMap map = SlotMapCodec.read(in);
            Map<String, Long> generations = new HashMap<>();
            int members = in.readInt();
            for (int i = 0; i < members; i++) {
                generations.put(in.readUTF(), in.readLong());
            }
            long lastAbort = in.readLong();
            Map<String, List<Long>> identifiers = new HashMap<>();
            int pinned = in.readInt();
            for (int i = 0; i < pinned; i++) {
                identifiers.put(in.readUTF(), CommandCodec.readIdentifiers(in));
            }
            return new ClusterState(map, generations, lastAbort, identifiers);
        }
    }

    private static int checksum(byte[] bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return (int) checksum.getValue();
    }
}
