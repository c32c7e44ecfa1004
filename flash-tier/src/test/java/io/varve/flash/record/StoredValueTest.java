package io.varve.flash.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the round trip of values on flash. Confined to the test's thread. */
class StoredValueTest {
    private static final byte[] KEY = RecordKey.of("key".getBytes(StandardCharsets.UTF_8));

    @Test
    void encodedValueIsDecoded() {
        SplittableRandom random = new SplittableRandom(3);
        for (int length : new int[] {0, 1, 7, 256, 100_000}) {
            byte[] value = new byte[length];
            random.nextBytes(value);
            for (boolean dirty : new boolean[] {true, false}) {
                StoredValue decoded = StoredValue.decode(KEY, new StoredValue(value, dirty).encode(KEY)).orElseThrow();
                assertThat(decoded.value()).isEqualTo(value);
                assertThat(decoded.dirty()).isEqualTo(dirty);
            }
        }
    }

    @Test
    void everyChangedBitIsSeen() {
        byte[] bytes = new StoredValue(new byte[] {1, 2, 3, 4, 5}, false).encode(KEY);
        for (int bit = 0; bit < bytes.length * Byte.SIZE; bit++) {
            byte[] changed = bytes.clone();
            changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThat(StoredValue.decode(KEY, changed)).as("bit %d", bit).isEmpty();
        }
    }

    @Test
    void truncatedOrForeignRecordIsDetected() {
        byte[] bytes = new StoredValue(new byte[] {1, 2, 3}, true).encode(KEY);
        for (int length = 0; length < bytes.length; length++) {
            assertThat(StoredValue.decode(KEY, Arrays.copyOf(bytes, length))).isEmpty();
        }
        assertThat(StoredValue.decode(RecordKey.of("other".getBytes(StandardCharsets.UTF_8)), bytes)).isEmpty();
    }

    /** The hash is in files: it must be the same for ever. */
    @Test
    void aKeyBeginsWithItsHash() {
        assertThat(RecordKey.hashOf(KEY)).isEqualTo(RecordKey.hash("key".getBytes(StandardCharsets.UTF_8)));
        assertThat(RecordKey.prefix(RecordKey.hashOf(KEY))).isEqualTo(Arrays.copyOf(KEY, 8));
        assertThat(new String(RecordKey.keyOf(KEY), StandardCharsets.UTF_8)).isEqualTo("key");
        assertThatThrownBy(() -> RecordKey.hashOf(new byte[7])).isInstanceOf(IllegalArgumentException.class);
    }
}
