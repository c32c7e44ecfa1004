package io.varve.ycsb.option;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Keys are encoded as their names or as 8 bytes. Confined to the test's thread. */
class KeyCodingTest {

    @Test
    void ycsbKeysAreWrittenAsTheyAre() {
        assertThat(KeyCoding.YCSB.encode("user6284781860667377211"))
                .isEqualTo("user6284781860667377211".getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void binaryKeysAreTheNumberInEightBytes() {
        assertThat(KeyCoding.BINARY8.encode("user258")).containsExactly(0, 0, 0, 0, 0, 0, 1, 2);
        assertThat(KeyCoding.BINARY8.encode("user000258")).containsExactly(0, 0, 0, 0, 0, 0, 1, 2);
        assertThat(KeyCoding.BINARY8.encode("user9223372036854775807")).containsExactly(0x7f, 0xff, 0xff, 0xff, 0xff,
                0xff, 0xff, 0xff);
        assertThat(KeyCoding.BINARY8.encode("user-9223372036854775808")).containsExactly(0x80, 0, 0, 0, 0, 0, 0, 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"user", "key1", "userabc", "user9223372036854775808", ""})
    void keyWithoutNumberHasNoBinaryForm(String key) {
        assertThatThrownBy(() -> KeyCoding.BINARY8.encode(key)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("varve.key=binary8").hasMessageContaining("varve.key=ycsb");
    }
}
