package io.varve.ycsb.option;

import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A key always belongs to one of two databases. Confined to the test's thread. */
class SideTest {

    @Test
    void keysOfAnyFormAreDividedInHalves() {
        for (String form : new String[] {"user%d", "user%019d", "k%x"}) {
            long remote = IntStream.range(0, 10_000).filter(i -> Side.of(String.format(form, i)) == Side.REMOTE)
                    .count();
            assertThat(remote).as(form).isBetween(4700L, 5300L);
        }
    }

    /** A later run has to find the records that an earlier one has loaded. */
    @Test
    void theDivisionIsAlwaysTheSame() {
        StringBuilder sides = new StringBuilder();
        for (int i = 0; i < 16; i++) {
            sides.append(Side.of("user" + i) == Side.REMOTE ? 'r' : 'l');
        }
        assertThat(sides).hasToString("rlrllrlrrlllrlrr");
    }
}
