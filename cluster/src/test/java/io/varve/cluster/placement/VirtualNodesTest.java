package io.varve.cluster.placement;

import java.util.Arrays;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the identifiers of members. Confined to the test's thread. */
final class VirtualNodesTest {
    /** All controllers must compute these, whatever their release: a change of the hash moves every slot. */
    @Test
    void randomIdentifiers_areTheSameInEveryRelease() {
        assertThat(VirtualNodes.random("a".repeat(40), 3, 7).identifiers()).containsExactly(
                1_395_443_479_209_840_931L, 7_125_408_072_280_864_747L, -7_962_919_752_394_658_843L);
    }

    @Test
    void randomIdentifiers_dependOnMemberAndSeed() {
        long[] own = VirtualNodes.random("a", 8, 1).identifiers();
        assertThat(VirtualNodes.random("a", 8, 1).identifiers()).isEqualTo(own).doesNotHaveDuplicates();
        assertThat(VirtualNodes.random("b", 8, 1).identifiers()).doesNotContain(own);
        assertThat(VirtualNodes.random("a", 8, 2).identifiers()).doesNotContain(own);
    }

    @Test
    void moreIdentifiers_includeTheFewer() {
        assertThat(VirtualNodes.random("a", 100, 1).identifiers())
                .contains(VirtualNodes.random("a", 99, 1).identifiers()).hasSize(100);
    }

    @Test
    void identifiers_areInUnsignedOrder() {
        assertThat(VirtualNodes.given("a", -1, 0, Long.MIN_VALUE, 5).identifiers()).containsExactly(0, 5,
                Long.MIN_VALUE, -1);
        long[] many = VirtualNodes.random("a", 1000, 1).identifiers();
        long[] sorted = LongStream.of(many).boxed().sorted(Long::compareUnsigned).mapToLong(Long::longValue).toArray();
        assertThat(many).isEqualTo(sorted);
        assertThat(Arrays.stream(many).filter(each -> each < 0).count()).isBetween(400L, 600L);
    }

    @Test
    void count_isInProportionToTheWeight() {
        assertThat(VirtualNodes.count(1, 256)).isEqualTo(256);
        assertThat(VirtualNodes.count(2.5, 100)).isEqualTo(250);
        assertThat(VirtualNodes.count(0.001, 100)).isEqualTo(1);
        assertThat(VirtualNodes.count(256, 256)).isEqualTo(VirtualNodes.MAX_COUNT);
        assertThatThrownBy(() -> VirtualNodes.count(257, 256)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 65536");
        assertThatThrownBy(() -> VirtualNodes.count(Double.MAX_VALUE, 256))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void invalidIdentifiers_areRefused() {
        assertThatThrownBy(() -> VirtualNodes.given("a")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> VirtualNodes.given("a", 3, 4, 3)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("twice");
        assertThatThrownBy(() -> VirtualNodes.random("a", 0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> VirtualNodes.random("a", VirtualNodes.MAX_COUNT + 1, 1))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
