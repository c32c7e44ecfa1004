package io.varve.cluster.map;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

final class HashSlotTest {
    @Test
    void knownKeys() {
        // The check value of CRC-16/XMODEM, and slots that redis-server 7.0.15 has replied to CLUSTER KEYSLOT.
        int crc = 0;
        for (byte next : "123456789".getBytes(StandardCharsets.US_ASCII)) {
            crc = HashSlot.crc16(crc, next);
        }
        assertThat(crc).isEqualTo(0x31C3);
        assertThat(HashSlot.of("123456789")).isEqualTo(12_739);
        assertThat(HashSlot.of("foo")).isEqualTo(12_182);
        assertThat(HashSlot.of("")).isZero();
    }

    @Test
    void hashTag_isTheFirstOneUnlessEmpty() {
        assertThat(HashSlot.of("{user1000}.following")).isEqualTo(HashSlot.of("user1000"));
        assertThat(HashSlot.of("foo{{bar}}zap")).isEqualTo(HashSlot.of("{bar"));
        assertThat(HashSlot.of("foo{bar}{zap}")).isEqualTo(HashSlot.of("bar"));
        assertThat(HashSlot.of("foo{}{bar}")).isEqualTo(8_363);
        assertThat(HashSlot.of("foo{bar")).isNotEqualTo(HashSlot.of("bar"));
        assertThat(HashSlot.of("}foo{bar}")).isEqualTo(HashSlot.of("bar"));
    }
}
