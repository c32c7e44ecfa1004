package io.varve.cluster.protocol;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.SlotRange;

/** The bytes of commands and their results, which are also those in the Raft log. Stateless. */
public final class CommandCodec {
    private static final int REGISTER = 1;
    private static final int REMOVE = 2;
    private static final int REPLICATE = 3;
    private static final int ASSIGN = 4;
    private static final int BEGIN = 5;
    private static final int FINISH = 6;
    private static final int ABORT = 7;
    private static final int PROMOTE = 8;
    private static final int WEIGHT = 9;
    private static final int IDENTIFIERS = 10;
    private static final int HAND_OVER = 11;
    /** Bounds what a damaged message makes its reader allocate. */
    private static final int MAX_IDENTIFIERS = 1 << 16;

    private CommandCodec() {}

    public static byte[] encode(Command command) {
        return MessageCodec.encode(out -> {
            switch (command) {
                case Command.Register register -> {
                    out.writeByte(REGISTER);
                    SlotMapCodec.writeMember(register.member(), out);
                }
                case Command.Remove remove -> {
                    out.writeByte(REMOVE);
                    out.writeUTF(remove.id());
                    out.writeBoolean(remove.force());
                }
                case Command.Replicate replicate -> {
                    out.writeByte(REPLICATE);
                    out.writeUTF(replicate.id());
                    out.writeUTF(replicate.primaryId());
                }
                case Command.AssignSlots assign -> {
                    out.writeByte(ASSIGN);
                    writeSlots(assign.slots(), out);
                    out.writeUTF(assign.id());
                }
                case Command.BeginMigration begin -> {
                    out.writeByte(BEGIN);
                    writeSlots(begin.slots(), out);
                    out.writeUTF(begin.targetId());
                }
                case Command.FinishMigration finish -> {
                    out.writeByte(FINISH);
                    writeSlots(finish.slots(), out);
                    out.writeUTF(finish.sourceId());
                    out.writeLong(finish.sourceGeneration());
                    out.writeUTF(finish.targetId());
                    out.writeLong(finish.targetGeneration());
                    out.writeLong(finish.epoch());
                }
                case Command.AbortMigration abort -> {
                    out.writeByte(ABORT);
                    writeSlots(abort.slots(), out);
                }
                case Command.Promote promote -> {
                    out.writeByte(PROMOTE);
                    out.writeUTF(promote.replicaId());
                    out.writeUTF(promote.primaryId());
                    out.writeLong(promote.term());
                }
                case Command.HandOver handOver -> {
                    out.writeByte(HAND_OVER);
                    out.writeUTF(handOver.primaryId());
                    out.writeLong(handOver.primaryGeneration());
                    out.writeUTF(handOver.replicaId());
                    out.writeLong(handOver.replicaGeneration());
                    out.writeLong(handOver.epoch());
                }
                case Command.SetWeight weight -> {
                    out.writeByte(WEIGHT);
                    out.writeUTF(weight.id());
                    out.writeDouble(weight.weight());
                }
                case Command.SetIdentifiers pinned -> {
                    out.writeByte(IDENTIFIERS);
                    out.writeUTF(pinned.id());
                    writeIdentifiers(pinned.identifiers(), out);
                }
            }
        });
    }

    /** @throws IOException if the bytes are no command */
    public static Command decode(byte[] bytes) throws IOException {
        return MessageCodec.decode(bytes, in -> {
            int type = in.readUnsignedByte();
            return switch (type) {
                case REGISTER -> new Command.Register(SlotMapCodec.readMember(in));
                case REMOVE -> new Command.Remove(in.readUTF(), in.readBoolean());
                case REPLICATE -> new Command.Replicate(in.readUTF(), in.readUTF());
                case ASSIGN -> new Command.AssignSlots(readSlots(in), in.readUTF());
                case BEGIN -> new Command.BeginMigration(readSlots(in), in.readUTF());
                case FINISH -> new Command.FinishMigration(readSlots(in), in.readUTF(), in.readLong(), in.readUTF(),
                        in.readLong(), in.readLong());
                case ABORT -> new Command.AbortMigration(readSlots(in));
                case PROMOTE -> new Command.Promote(in.readUTF(), in.readUTF(), in.readLong());
                case WEIGHT -> new Command.SetWeight(in.readUTF(), in.readDouble());
                case IDENTIFIERS -> new Command.SetIdentifiers(in.readUTF(), readIdentifiers(in));
                case HAND_OVER -> new Command.HandOver(in.readUTF(), in.readLong(), in.readUTF(), in.readLong(),
                        in.readLong());
                default -> throw new IOException("there is no command " + type);
            };
        });
    }

    public static byte[] encode(ChangeResult result) {
        return MessageCodec.encode(out -> {
            out.writeBoolean(result.accepted());
            out.writeLong(result.epoch());
            out.writeLong(result.generation());
            out.writeUTF(result.reason());
        });
    }

    /** @throws IOException if the bytes are no result */
    public static ChangeResult decodeResult(byte[] bytes) throws IOException {
        return MessageCodec.decode(bytes,
                in -> new ChangeResult(in.readBoolean(), in.readLong(), in.readLong(), in.readUTF()));
    }

    private static void writeSlots(List<SlotRange> slots, DataOutputStream out) throws IOException {
        out.writeShort(slots.size());
        for (SlotRange range : slots) {
            out.writeShort(range.first());
            out.writeShort(range.last());
        }
    }

    private static List<SlotRange> readSlots(DataInputStream in) throws IOException {
        int count = in.readUnsignedShort();
        if (count > HashSlot.COUNT) {
            throw new IOException(count + " ranges of slots");
        }
        List<SlotRange> slots = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            try {
                slots.add(new SlotRange(in.readUnsignedShort(), in.readUnsignedShort()));
            } catch (IllegalArgumentException invalid) {
                throw new IOException("no valid range of slots", invalid);
            }
        }
        return slots;
    }

    /** Writes identifiers on the hash ring, as commands and snapshots have them. */
    public static void writeIdentifiers(List<Long> identifiers, DataOutputStream out) throws IOException {
        out.writeInt(identifiers.size());
        for (long identifier : identifiers) {
            out.writeLong(identifier);
        }
    }

    /** @throws IOException if there are too many */
    public static List<Long> readIdentifiers(DataInputStream in) throws IOException {
        int count = in.readInt();
        if (count < 0 || count > MAX_IDENTIFIERS) {
            throw new IOException(count + " identifiers: expected at most " + MAX_IDENTIFIERS);
        }
        List<Long> identifiers = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            identifiers.add(in.readLong());
        }
        return identifiers;
    }
}
