/**
 * Miss-ratio curves of request streams: {@code ./varve mrc}.
 *
 * <p>Lives here: feeding a stream to the curves, or to a server that is asked for its own curve, and the distance
 * between them. Must not live here: the curves, which belong to the memory tier ({@code memory.locality}), and the
 * sources of keys ({@code simulate}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.curve;
