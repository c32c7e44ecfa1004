package io.varve.flash.record;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Records of items are written, read back and checked. Confined to the test's thread. */
class ItemRecordTest {
    private static final byte[] KEY = ItemKey.of(1, 2, new byte[] {3});

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 0", "7, -5", "15, 1"})
    void everyFieldIsReadBack(int each, long scanId) {
        byte[] record = ItemRecord.begin(each, each, 0xABCDEF, 15 - each, 1_700_000_000_123L, 4, scanId);
        ItemRecord.seal(KEY, record);
        assertThat(ItemRecord.isWhole(KEY, record)).isTrue();
        assertThat(ItemRecord.type(record)).isEqualTo(each);
        assertThat(ItemRecord.encoding(record)).isEqualTo(each);
        assertThat(ItemRecord.access(record)).isEqualTo(0xABCDEF);
        assertThat(ItemRecord.penaltyClass(record)).isEqualTo(15 - each);
        assertThat(ItemRecord.expireAtMillis(record)).isEqualTo(1_700_000_000_123L);
        assertThat(ItemRecord.valueLength(record)).isEqualTo(4);
        assertThat(ItemRecord.scanId(record)).isEqualTo(scanId);
        assertThat(ItemRecord.valueOffset(record)).isEqualTo(record.length - 4);
        record[ItemRecord.valueOffset(record)]++;
        assertThat(ItemRecord.isWhole(KEY, record)).isFalse();
        record[ItemRecord.valueOffset(record)]--;
        record[ItemRecord.valueOffset(record) - 1]++;
        assertThat(ItemRecord.isWhole(KEY, record)).isFalse();
    }

    /** As files of version 1 have it: a byte for the type alone. */
    @Test
    void aRecordWithoutAClassIsStillRead() {
        ByteBuffer bytes = ByteBuffer.allocate(22).put((byte) 1).put((byte) 5).put((byte) 2).putShort((short) 0x1234)
                .put((byte) 0x56).putLong(-1).putInt(0).put(new byte[] {1, 2, 3, 4});
        CRC32C crc = new CRC32C();
        crc.update(KEY);
        crc.update(bytes.array(), 0, 14);
        crc.update(bytes.array(), 18, 4);
        byte[] record = bytes.putInt(14, (int) crc.getValue()).array();
        assertThat(ItemRecord.isWhole(KEY, record)).isTrue();
        assertThat(ItemRecord.type(record)).isEqualTo(5);
        assertThat(ItemRecord.encoding(record)).isEqualTo(2);
        assertThat(ItemRecord.access(record)).isEqualTo(0x123456);
        assertThat(ItemRecord.expireAtMillis(record)).isEqualTo(-1);
        assertThat(ItemRecord.penaltyClass(record)).isEqualTo(ItemRecord.UNKNOWN_CLASS);
        record[0] = 4;
        assertThat(ItemRecord.isWhole(KEY, record)).as("a version that is not known").isFalse();
    }
}
