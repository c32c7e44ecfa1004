/**
 * Miss-ratio curves of streams of requests: {@code ./varve mrc}.
 *
 * <p>Lives here: what feeds a stream to the curves, or to a server that is asked for it and for its own curve, and how far apart they are. Must not live here: the curves, which are the memory
 * tier's ({@code memory.locality}), and where keys come from ({@code simulate}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.curve;
