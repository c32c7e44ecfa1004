package io.varve.ycsb.record;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Records are packed into a string and unpacked. Confined to the test's thread. */
class PackedRecordTest {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 127, 128, 1000, 16_383, 16_384, 2_097_152})
    void fieldOfAnyLengthIsReadBack(int length) {
        byte[] value = new byte[length];
        new SplittableRandom(length).nextBytes(value);
        Map<String, byte[]> back = PackedRecord.unpack(PackedRecord.pack(Map.of("field0", value)));
        assertThat(back).containsOnlyKeys("field0");
        assertThat(back.get("field0")).isEqualTo(value);
    }

    @Test
    void fieldsComeBackInOrder() {
        Map<String, byte[]> fields = new LinkedHashMap<>();
        for (int i = 9; i >= 0; i--) {
            fields.put("field" + i, new byte[] {(byte) i});
        }
        fields.put("größe", new byte[0]);
        Map<String, byte[]> back = PackedRecord.unpack(PackedRecord.pack(fields));
        assertThat(back.keySet()).containsExactlyElementsOf(fields.keySet());
        assertThat(back.get("field7")).containsExactly(7);
    }

    @Test
    void oneFieldOfAThousandBytesCostsNineMore() {
        assertThat(PackedRecord.pack(Map.of("field0", new byte[1000]))).hasSize(1009);
    }

    @Test
    void everyProperPrefixOfARecordIsRefused() {
        byte[] packed = PackedRecord.pack(Map.of("field0", new byte[300]));
        for (int length = 1; length < packed.length; length++) {
            byte[] cut = java.util.Arrays.copyOf(packed, length);
            assertThatThrownBy(() -> PackedRecord.unpack(cut)).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("varve.record=string");
        }
    }

    @Test
    void aLengthWithoutEndIsRefused() {
        byte[] endless = {-1, -1, -1, -1, -1, -1, -1};
        assertThatThrownBy(() -> PackedRecord.unpack(endless)).isInstanceOf(IllegalArgumentException.class);
    }
}
