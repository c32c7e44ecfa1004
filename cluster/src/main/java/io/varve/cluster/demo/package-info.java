/** The tour of {@code cluster demo}: a whole cluster on this machine, a client, and the death of a primary. */
@NullMarked
package io.varve.cluster.demo;

import org.jspecify.annotations.NullMarked;
