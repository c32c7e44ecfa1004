package io.varve.memory.collection;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

import io.varve.memory.collection.packed.PackedHash;
import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Random writes to a packed hash whose fields have times, compared with a map. Confined to the test's thread. */
class PackedHashTimesModelTest {
    private static final int BUFFER_BYTES = 1 << 20;
    private static final int STEPS = TestBudget.ofInt("varve.model.operations", 6_000, 150_000);

    private record Field(String value, long time) {}

    private final Map<String, Field> model = new LinkedHashMap<>();
    private int length = PackedHash.EMPTY_BYTES;

    @Test
    void randomWrites_agreeWithTheModel() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        try (PackedBuffer buffer = new PackedBuffer(BUFFER_BYTES, 1 << 16);
                PackedBuffer values = new PackedBuffer(8, 1 << 16)) {
            buffer.resize(length);
            PackedHash.clear(buffer.address());
            for (int step = 0; step < STEPS; step++) {
                step(buffer, values, random);
                if (length > BUFFER_BYTES / 2) {
                    removeDue(buffer, Long.MAX_VALUE);
                    model.keySet().stream().toList().forEach(name -> remove(buffer, name));
                }
                check(buffer, random);
            }
        }
    }

    private void step(PackedBuffer buffer, PackedBuffer values, SplittableRandom random) {
        String name = "f" + random.nextInt(40);
        long time = random.nextInt(3) == 0
                ? Item.NEVER
                : random.nextInt(50) == 0 ? TimedHashLayout.LATEST_TIME : random.nextInt(1000);
        switch (random.nextInt(8)) {
            case 0 -> remove(buffer, name);
            case 1, 2 -> time(buffer, name, time);
            case 3 -> {
                if (random.nextInt(20) == 0) {
                    removeDue(buffer, random.nextInt(1000));
                }
            }
            default -> {
                int bytes = random.nextInt(50) == 0 ? random.nextInt(20_000) : random.nextInt(200);
                put(buffer, values, name, "v".repeat(bytes), time);
            }
        }
    }

    private long find(PackedBuffer buffer, String name) {
        return PackedHash.find(buffer.address(), length, buffer.argument(), buffer.write(name));
    }

    private void put(PackedBuffer buffer, PackedBuffer values, String name, String value, long time) {
        long entry = find(buffer, name);
        int bytes = values.write(value);
        long more = PackedHash.entryBytes(name.length(), bytes, time)
                - (entry == PackedHash.NONE ? 0 : PackedHash.entryBytes(entry));
        buffer.resize(length + Math.max(0, more));
        int before = length;
        length = entry == PackedHash.NONE
                ? PackedHash.append(buffer.address(), length, buffer.argument(), name.length(), values.argument(),
                        bytes,
                        time)
                : PackedHash.replace(buffer.address(), length, entry, values.argument(), bytes, time);
        assertThat(length - (long) before).isEqualTo(more);
        buffer.resize(length);
        model.put(name, new Field(value, time));
    }

    private void time(PackedBuffer buffer, String name, long time) {
        long entry = find(buffer, name);
        Field old = model.get(name);
        assertThat(entry != PackedHash.NONE).isEqualTo(old != null);
        if (old == null) {
            return;
        }
        long more = PackedHash.entryBytes(name.length(), old.value().length(), time) - PackedHash.entryBytes(entry);
        buffer.resize(length + Math.max(0, more));
        length = PackedHash.time(buffer.address(), length, entry, time);
        buffer.resize(length);
        model.put(name, new Field(old.value(), time));
    }

    private void remove(PackedBuffer buffer, String name) {
        long entry = find(buffer, name);
        assertThat(entry != PackedHash.NONE).isEqualTo(model.remove(name) != null);
        if (entry != PackedHash.NONE) {
            length = PackedHash.remove(buffer.address(), length, entry);
            buffer.resize(length);
        }
    }

    private void removeDue(PackedBuffer buffer, long now) {
        length = PackedHash.removeDue(buffer.address(), length, now);
        buffer.resize(length);
        model.values().removeIf(field -> isDue(field, now));
    }

    private static boolean isDue(Field field, long now) {
        return field.time() != Item.NEVER && field.time() < now;
    }

    private void check(PackedBuffer buffer, SplittableRandom random) {
        long hash = buffer.address();
        assertThat(PackedHash.count(hash)).isEqualTo(model.size());
        Map<String, Field> found = new LinkedHashMap<>();
        for (long entry = PackedHash.first(hash, length); entry != PackedHash.NONE; entry = PackedHash.next(hash,
                length, entry)) {
            found.put(PackedBuffer.read(PackedHash.fieldAddress(entry), PackedHash.fieldLength(entry)), new Field(
                    PackedBuffer.read(PackedHash.valueAddress(entry), PackedHash.valueLength(entry)),
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
