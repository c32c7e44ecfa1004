package io.varve.cluster.protocol;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a slot map, in requests and in snapshots. Stateless.
 *
 * <p>Runs of slots with one owner take four bytes, and members are numbered in their order: the map of a thousand
 * members takes some 100 KB.
 */
public final class SlotMapCodec {
    private SlotMapCodec() {}

    public static void write(SlotMap map, DataOutputStream out) throws IOException {
        out.writeLong(map.epoch());
        Map<String, Integer> numbers = new HashMap<>();
        out.writeInt(map.members().size());
        for (Member member : map.members()) {
            numbers.put(member.id(), numbers.size());
            writeMember(member, out);
        }
        int slot = 0;
        while (slot < HashSlot.COUNT) {
            Member owner = map.owner(slot);
            int end = slot;
            while (end < HashSlot.COUNT && sameId(owner, map.owner(end))) {
                end++;
            }
            out.writeShort(end - slot);
            out.writeInt(owner == null ? -1 : numbers.getOrDefault(owner.id(), -1));
            slot = end;
        }
        // Sorted, so that equal maps have equal bytes.
        Map<Integer, Member> migrations = new TreeMap<>(map.migrations());
        out.writeInt(migrations.size());
        for (Map.Entry<Integer, Member> migration : migrations.entrySet()) {
            out.writeShort(migration.getKey());
            out.writeInt(numbers.getOrDefault(migration.getValue().id(), -1));
        }
    }

    private static boolean sameId(@Nullable Member one, @Nullable Member other) {
        return one == null ? other == null : other != null && one.id().equals(other.id());
    }

    /** @throws IOException if the bytes are no map */
    public static SlotMap read(DataInputStream in) throws IOException {
        long epoch = in.readLong();
        SlotMap.Builder builder = new SlotMap.Builder();
        List<Member> members = new ArrayList<>();
        int count = in.readInt();
        for (int i = 0; i < count; i++) {
            Member member = readMember(in);
            members.add(member);
            builder.member(member);
        }
        int slot = 0;
        while (slot < HashSlot.COUNT) {
            int length = in.readUnsignedShort();
            int owner = in.readInt();
            if (length == 0 || slot + length > HashSlot.COUNT) {
                throw new IOException("a run of " + length + " slots at " + slot);
            }
            if (owner >= 0) {
                builder.owner(new SlotRange(slot, slot + length - 1), member(members, owner).id());
            }
            slot += length;
        }
        int migrations = in.readInt();
        for (int i = 0; i < migrations; i++) {
            int migrating = in.readUnsignedShort();
            if (migrating >= HashSlot.COUNT) {
                throw new IOException("there is no slot " + migrating);
            }
            builder.target(migrating, member(members, in.readInt()).id());
        }
        try {
            return builder.build(epoch);
        } catch (IllegalStateException invalid) {
            throw new IOException("no valid slot map", invalid);
        }
    }

    private static Member member(List<Member> members, int number) throws IOException {
        if (number < 0 || number >= members.size()) {
            throw new IOException("there is no member " + number + " of " + members.size());
        }
        return members.get(number);
    }

    static void writeMember(Member member, DataOutputStream out) throws IOException {
        out.writeUTF(member.id());
        out.writeUTF(member.host());
        out.writeShort(member.port());
        out.writeDouble(member.weight());
        String primary = member.primaryId();
        out.writeUTF(primary == null ? "" : primary);
        out.writeBoolean(member.kind() == Member.Kind.PLAIN);
    }

    static Member readMember(DataInputStream in) throws IOException {
        String id = in.readUTF();
        String host = in.readUTF();
        int port = in.readUnsignedShort();
        double weight = in.readDouble();
        String primary = in.readUTF();
        try {
            return new Member(id, host, port, weight, primary.isEmpty() ? null : primary,
                    in.readBoolean() ? Member.Kind.PLAIN : Member.Kind.VARVE);
        } catch (IllegalArgumentException invalid) {
            throw new IOException("no valid member", invalid);
        }
    }
}
