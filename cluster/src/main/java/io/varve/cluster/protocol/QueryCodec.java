package io.varve.cluster.protocol;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.varve.cluster.map.SlotMap;

/** The bytes of queries and their replies. Stateless. */
public final class QueryCodec {
    private static final int HEARTBEAT = 1;
    private static final int VIEW = 2;
    private static final int TERM = 3;

    private QueryCodec() {}

    public static byte[] encode(Query query) {
        return MessageCodec.encode(out -> {
            switch (query) {
                case Query.Heartbeat heartbeat -> {
                    out.writeByte(HEARTBEAT);
                    out.writeUTF(heartbeat.id());
                    out.writeLong(heartbeat.generation());
                    out.writeLong(heartbeat.epoch());
                    out.writeLong(heartbeat.offset());
                    out.writeBoolean(heartbeat.fresh());
                    out.writeLong(heartbeat.term());
                    out.writeLong(heartbeat.stamp());
                }
                case Query.View _ -> out.writeByte(VIEW);
                case Query.Term _ -> out.writeByte(TERM);
            }
        });
    }

    /** @throws IOException if the bytes are no query */
    public static Query decode(byte[] bytes) throws IOException {
        return MessageCodec.decode(bytes, in -> {
            int type = in.readUnsignedByte();
            return switch (type) {
                case HEARTBEAT -> new Query.Heartbeat(in.readUTF(), in.readLong(), in.readLong(), in.readLong(),
                        in.readBoolean(), in.readLong(), in.readLong());
                case VIEW -> new Query.View();
                case TERM -> new Query.Term();
                default -> throw new IOException("there is no query " + type);
            };
        });
    }

    public static byte[] encode(HeartbeatReply reply) {
        return MessageCodec.encode(out -> {
            out.writeByte(reply.status().code());
            out.writeLong(reply.leaseMillis());
            out.writeLong(reply.nextMillis());
            out.writeLong(reply.term());
            out.writeLong(reply.stamp());
            SlotMap map = reply.map();
            out.writeBoolean(map != null);
            if (map != null) {
                SlotMapCodec.write(map, out);
            }
        });
    }

    /** @throws IOException if the bytes are no reply to a heartbeat */
    public static HeartbeatReply decodeHeartbeatReply(byte[] bytes) throws IOException {
        return MessageCodec.decode(bytes, in -> {
            int code = in.readUnsignedByte();
            HeartbeatReply.Status status = Arrays.stream(HeartbeatReply.Status.values())
                    .filter(one -> one.code() == code).findFirst()
                    .orElseThrow(() -> new IOException("there is no status " + code));
            return new HeartbeatReply(status, in.readLong(), in.readLong(), in.readLong(), in.readLong(),
                    in.readBoolean() ? SlotMapCodec.read(in) : null);
        });
    }

    public static byte[] encode(ClusterView view) {
        return MessageCodec.encode(out -> {
            out.writeUTF(view.leaderId());
            out.writeLong(view.term());
            SlotMapCodec.write(view.map(), out);
            out.writeInt(view.identifiers().size());
            for (Map.Entry<String, List<Long>> pinned : view.identifiers().entrySet()) {
                out.writeUTF(pinned.getKey());
                CommandCodec.writeIdentifiers(pinned.getValue(), out);
            }
            out.writeInt(view.liveness().size());
            for (Map.Entry<String, ClusterView.Liveness> member : view.liveness().entrySet()) {
                out.writeUTF(member.getKey());
                out.writeBoolean(member.getValue().alive());
                out.writeLong(member.getValue().leaseMillis());
                out.writeLong(member.getValue().offset());
            }
        });
    }

    /** @throws IOException if the bytes are no view */
    public static ClusterView decodeView(byte[] bytes) throws IOException {
        return MessageCodec.decode(bytes, in -> {
            String leader = in.readUTF();
            long term = in.readLong();
            SlotMap map = SlotMapCodec.read(in);
            Map<String, List<Long>> identifiers = new HashMap<>();
            int pinned = in.readInt();
            for (int i = 0; i < pinned; i++) {
                identifiers.put(in.readUTF(), CommandCodec.readIdentifiers(in));
            }
            Map<String, ClusterView.Liveness> liveness = new HashMap<>();
            int members = in.readInt();
            for (int i = 0; i < members; i++) {
                liveness.put(in.readUTF(),
                        new ClusterView.Liveness(in.readBoolean(), in.readLong(), in.readLong()));
            }
            return new ClusterView(leader, term, map, identifiers, liveness);
        });
    }

    public static byte[] encodeTerm(long term) {
        return MessageCodec.encode(out -> out.writeLong(term));
    }

    /** @throws IOException if the bytes are no term */
    public static long decodeTerm(byte[] bytes) throws IOException {
        return MessageCodec.decode(bytes, in -> in.readLong());
    }

    /** The reply of a controller that cannot say whether it leads; an empty one to a {@link Query.View}. */
    public static byte[] retry(Query query) {
        return query instanceof Query.Heartbeat
                ? encode(new HeartbeatReply(HeartbeatReply.Status.RETRY, 0, 0, 0, 0, null))
                : new byte[0];
    }
}
