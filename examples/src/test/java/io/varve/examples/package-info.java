@org.jspecify.annotations.NullMarked
package io.varve.examples;
