package io.varve.memory.collection;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Random writes to a packed hash whose fields have times, and to a map, compared. Confined to the test's thread. */
class PackedHashTimesModelTest {
    private static final int ROOM_BYTES = 1 << 20;
    private static final int STEPS = Integer.getInteger("varve.model.operations", 6_000);

    private record Field(String value, long time) {}

    private final Map<String, Field> model = new LinkedHashMap<>();
    private int length = PackedHash.EMPTY_BYTES;

    @Test
    void randomWritesLeaveWhatTheModelHas() {
        long seed = System.nanoTime();
        System.out.println("PackedHashTimesModelTest seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        try (PackedRoom room = new PackedRoom(ROOM_BYTES, 1 << 16); PackedRoom values = new PackedRoom(8, 1 << 16)) {
            room.resize(length);
            PackedHash.clear(room.address());
            for (int step = 0; step < STEPS; step++) {
                step(room, values, random);
                if (length > ROOM_BYTES / 2) {
                    removeDue(room, Long.MAX_VALUE);
                    model.keySet().stream().toList().forEach(name -> remove(room, name));
                }
                check(room, random);
            }
        }
    }

    private void step(PackedRoom room, PackedRoom values, SplittableRandom random) {
        String name = "f" + random.nextInt(40);
        long time = random.nextInt(3) == 0
                ? Item.NEVER
                : random.nextInt(50) == 0 ? TimedHashLayout.LATEST_TIME : random.nextInt(1000);
        switch (random.nextInt(8)) {
            case 0 -> remove(room, name);
            case 1, 2 -> time(room, name, time);
            case 3 -> {
                if (random.nextInt(20) == 0) {
                    removeDue(room, random.nextInt(1000));
                }
            }
            default -> {
                int bytes = random.nextInt(50) == 0 ? random.nextInt(20_000) : random.nextInt(200);
                put(room, values, name, "v".repeat(bytes), time);
            }
        }
    }

    private long find(PackedRoom room, String name) {
        return PackedHash.find(room.address(), length, room.argument(), room.write(name));
    }

    private void put(PackedRoom room, PackedRoom values, String name, String value, long time) {
        long entry = find(room, name);
        int bytes = values.write(value);
        long more = PackedHash.entryBytes(name.length(), bytes, time)
                - (entry == PackedHash.NONE ? 0 : PackedHash.entryBytes(entry));
        room.resize(length + Math.max(0, more));
        int before = length;
        length = entry == PackedHash.NONE
                ? PackedHash.append(room.address(), length, room.argument(), name.length(), values.argument(), bytes,
                        time)
                : PackedHash.replace(room.address(), length, entry, values.argument(), bytes, time);
        assertThat(length - (long) before).isEqualTo(more);
        room.resize(length);
        model.put(name, new Field(value, time));
    }

    private void time(PackedRoom room, String name, long time) {
        long entry = find(room, name);
        Field old = model.get(name);
        assertThat(entry != PackedHash.NONE).isEqualTo(old != null);
        if (old == null) {
            return;
        }
        long more = PackedHash.entryBytes(name.length(), old.value().length(), time) - PackedHash.entryBytes(entry);
        room.resize(length + Math.max(0, more));
        length = PackedHash.time(room.address(), length, entry, time);
        room.resize(length);
        model.put(name, new Field(old.value(), time));
    }

    private void remove(PackedRoom room, String name) {
        long entry = find(room, name);
        assertThat(entry != PackedHash.NONE).isEqualTo(model.remove(name) != null);
        if (entry != PackedHash.NONE) {
            length = PackedHash.remove(room.address(), length, entry);
            room.resize(length);
        }
    }

    private void removeDue(PackedRoom room, long now) {
        length = PackedHash.removeDue(room.address(), length, now);
        room.resize(length);
        model.values().removeIf(field -> isDue(field, now));
    }

    private static boolean isDue(Field field, long now) {
        return field.time() != Item.NEVER && field.time() < now;
    }

    private void check(PackedRoom room, SplittableRandom random) {
        long hash = room.address();
        assertThat(PackedHash.count(hash)).isEqualTo(model.size());
        Map<String, Field> found = new LinkedHashMap<>();
        for (long entry = PackedHash.first(hash, length); entry != PackedHash.NONE; entry = PackedHash.next(hash,
                length, entry)) {
            found.put(PackedRoom.read(PackedHash.fieldAddress(entry), PackedHash.fieldLength(entry)), new Field(
                    PackedRoom.read(PackedHash.valueAddress(entry), PackedHash.valueLength(entry)),
                    PackedHash.time(entry)));
        }
        assertThat(found).isEqualTo(model);
        long now = random.nextInt(1000);
        long due = model.values().stream().filter(field -> isDue(field, now)).count();
        assertThat(PackedHash.countDue(hash, length, now)).isEqualTo((int) due);
        assertThat(PackedHash.hasLasting(hash, length, now)).isEqualTo(due < model.size());
        assertThat(PackedHash.earliest(hash, length, now)).isEqualTo(model.values().stream().mapToLong(Field::time)
                .filter(time -> time >= now).min().orElse(Item.NEVER));
        assertThat(PackedHash.earliest(Memory.toArray(hash, length), 0, length))
                .isEqualTo(PackedHash.earliest(hash, length, 0));
        boolean allHave = model.values().stream().allMatch(field -> field.time() != Item.NEVER);
        assertThat(PackedHash.latest(hash, length)).isEqualTo(allHave
                ? model.values().stream().mapToLong(Field::time).max().orElse(Item.NEVER)
                : Item.NEVER);
    }
}
