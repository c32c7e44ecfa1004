package io.varve.ycsb;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Numbers of client threads are unique and used again. Confined to the test's thread. */
class ThreadNumbersTest {

    @Test
    void aSecondRunGetsTheNumbersOfTheFirst() {
        ThreadNumbers numbers = new ThreadNumbers();
        assertThat(numbers.take()).isZero();
        assertThat(numbers.take()).isEqualTo(1);
        numbers.release(1);
        numbers.release(0);
        assertThat(numbers.take()).isZero();
        assertThat(numbers.take()).isEqualTo(1);
        assertThat(numbers.take()).isEqualTo(2);
    }
}
