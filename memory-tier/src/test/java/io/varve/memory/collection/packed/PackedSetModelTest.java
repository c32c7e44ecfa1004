package io.varve.memory.collection.packed;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import io.varve.memory.collection.PackedBuffer;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Random writes to a packed set, compared with a LinkedHashSet after each. Confined to the test thread. */
class PackedSetModelTest {
    private static final int BUFFER_BYTES = 8 << 20;
    private static final int ARGUMENT_BYTES = 3 << 20;

    private final PackedBuffer memory = new PackedBuffer(BUFFER_BYTES, ARGUMENT_BYTES);
    private final long buffer = memory.address();
    private final long argument = memory.argument();
    private final Set<String> model = new LinkedHashSet<>();
    private int length;

    @BeforeEach
    void clear() {
        memory.resize(PackedSet.EMPTY_BYTES);
        PackedSet.clear(buffer);
        length = PackedSet.EMPTY_BYTES;
    }

    @AfterEach
    void close() {
        memory.close();
    }

    private void add(String member) {
        int bytes = memory.write(member);
        boolean missing = PackedSet.find(buffer, length, argument, bytes) == PackedSet.NONE;
        assertThat(missing).isEqualTo(model.add(member));
        if (missing) {
            long needed = length + PackedSet.memberBytes(bytes);
            memory.resize(needed);
            length = PackedSet.append(buffer, length, argument, bytes);
            assertThat((long) length).isEqualTo(needed);
        }
    }

    private void remove(String member) {
        long found = PackedSet.find(buffer, length, argument, memory.write(member));
        assertThat(found != PackedSet.NONE).isEqualTo(model.remove(member));
        if (found != PackedSet.NONE) {
            length = PackedSet.remove(buffer, length, found);
            memory.resize(length);
        }
    }

    private void removeAllBut(SplittableRandom random, int oneIn) {
        List<String> kept = new ArrayList<>();
        long to = buffer + PackedSet.EMPTY_BYTES;
        long next;
        for (long member = PackedSet.first(buffer, length); member != PackedSet.NONE; member = next) {
            next = PackedSet.next(buffer, length, member);
            if (random.nextInt(oneIn) == 0) {
                kept.add(read(member));
                to = PackedSet.moveDown(member, to);
            }
        }
        length = PackedSet.cut(buffer, to, kept.size());
        memory.resize(length);
        model.retainAll(kept);
    }

    private static String read(long member) {
        return PackedBuffer.read(PackedSet.address(member), PackedSet.length(member));
    }

    private void check() {
        assertThat(PackedSet.count(buffer)).isEqualTo(model.size());
        List<String> found = new ArrayList<>();
        for (long member = PackedSet.first(buffer, length); member != PackedSet.NONE; member = PackedSet.next(buffer,
                length, member)) {
            found.add(read(member));
        }
        assertThat(found).isEqualTo(List.copyOf(model));
        assertThat(PackedSet.find(buffer, length, argument, memory.write("never there"))).isEqualTo(PackedSet.NONE);
    }

    @Test
    void anEmptySetHasNoMembers() {
        check();
        assertThat(PackedSet.first(buffer, length)).isEqualTo(PackedSet.NONE);
    }

    @Test
    void anEmptyMemberIsValid() {
        add("");
        check();
        add("x");
        add("");
        check();
        remove("");
        check();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152})
    void membersWithLengthsOfEveryWidth(int size) {
        add("before");
        add("m".repeat(size));
        add("n".repeat(size));
        add("behind");
        check();
        remove("m".repeat(size));
        check();
        remove("before");
        check();
    }

    @Test
    void randomWrites_agreeWithTheModel() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int step = 0; step < 6_000; step++) {
            String member = random.nextInt(30) == 0
                    ? "long".repeat(random.nextInt(10_000))
                    : "m" + random.nextInt(60);
            if (random.nextInt(5) < 3) {
                add(member);
            } else {
                remove(member);
            }
            if (length > BUFFER_BYTES / 16 || random.nextInt(100) == 0) {
                removeAllBut(random, 1 + random.nextInt(5));
            }
            check();
        }
        for (String each : new ArrayList<>(model)) {
            remove(each);
        }
        assertThat(length).as("seed %d", seed).isEqualTo(PackedSet.EMPTY_BYTES);
    }
}
